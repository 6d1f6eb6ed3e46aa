package io.slaq.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.Type;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.FieldInsnNode;
import org.apache.xbean.asm9.tree.FrameNode;
import org.apache.xbean.asm9.tree.InsnList;
import org.apache.xbean.asm9.tree.InsnNode;
import org.apache.xbean.asm9.tree.JumpInsnNode;
import org.apache.xbean.asm9.tree.LabelNode;
import org.apache.xbean.asm9.tree.MethodInsnNode;
import org.apache.xbean.asm9.tree.MethodNode;
import org.apache.xbean.asm9.tree.TryCatchBlockNode;
import org.apache.xbean.asm9.tree.TypeInsnNode;
import org.apache.xbean.asm9.tree.VarInsnNode;

/** The few shapes of byte code that the hooks are made of. */
final class Code {
  private Code() {}

  static MethodInsnNode call(Class<?> owner, String name, String descriptor) {
    return new MethodInsnNode(Opcodes.INVOKESTATIC, Type.getInternalName(owner), name, descriptor, false);
  }

  static InsnNode op(int opcode) {
    return new InsnNode(opcode);
  }

  static VarInsnNode load(int slot) {
    return new VarInsnNode(Opcodes.ALOAD, slot);
  }

  static InsnList list(AbstractInsnNode... instructions) {
    InsnList list = new InsnList();
    for (AbstractInsnNode instruction : instructions) {
      list.add(instruction);
    }
    return list;
  }

  static boolean isCall(AbstractInsnNode instruction, String owner, String name) {
    return instruction instanceof MethodInsnNode
        && ((MethodInsnNode) instruction).owner.equals(owner)
        && ((MethodInsnNode) instruction).name.equals(name);
  }

  static boolean isPut(AbstractInsnNode instruction, String owner, String field) {
    return instruction.getOpcode() == Opcodes.PUTFIELD
        && ((FieldInsnNode) instruction).owner.equals(owner)
        && ((FieldInsnNode) instruction).name.equals(field);
  }

  static boolean isReturn(AbstractInsnNode instruction) {
    int opcode = instruction.getOpcode();
    return opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN;
  }

  static List<AbstractInsnNode> find(MethodNode method, Predicate<AbstractInsnNode> wanted) {
    List<AbstractInsnNode> found = new ArrayList<>();
    for (AbstractInsnNode instruction : method.instructions) {
      if (wanted.test(instruction)) {
        found.add(instruction);
      }
    }
    return found;
  }

  /** The slot of a method's n-th parameter with this descriptor, or -1. */
  static int slot(MethodNode method, String parameter, int nth) {
    int slot = (method.access & Opcodes.ACC_STATIC) == 0 ? 1 : 0;
    int seen = 0;
    for (Type type : Type.getArgumentTypes(method.desc)) {
      if (type.getDescriptor().equals(parameter) && seen++ == nth) {
        return slot;
      }
      slot += type.getSize();
    }
    return -1;
  }

  /** Replace a reference parameter by what {@code replacement}, given the instructions before it, leaves on the stack. */
  static InsnList assign(InsnList replacement, String type, int slot) {
    replacement.add(new TypeInsnNode(Opcodes.CHECKCAST, type));
    replacement.add(new VarInsnNode(Opcodes.ASTORE, slot));
    return replacement;
  }

  /** enter(value of slot) at the head, exit() before every return, exitThrown(t) when an exception passes. */
  static int scope(MethodNode method, String owner, String enter, int slot) {
    LabelNode start = new LabelNode();
    LabelNode end = new LabelNode();
    LabelNode handler = new LabelNode();
    for (AbstractInsnNode exit : find(method, Code::isReturn)) {
      method.instructions.insertBefore(exit, call(Fits.class, "exit", "()V"));
    }
    method.instructions.insert(list(load(slot), call(Fits.class, enter, "(Ljava/lang/Object;)V"), start));
    // The handler needs no local but `this`, which makes its frame valid wherever the exception came from.
    FrameNode frame = new FrameNode(Opcodes.F_FULL, 1, new Object[] {owner}, 1, new Object[] {"java/lang/Throwable"});
    method.instructions.add(list(end, handler, frame, op(Opcodes.DUP)));
    method.instructions.add(list(call(Fits.class, "exitThrown", "(Ljava/lang/Throwable;)V"), op(Opcodes.ATHROW)));
    // Last in the table: the method's own handlers keep their say.
    method.tryCatchBlocks.add(new TryCatchBlockNode(start, end, handler, null));
    return 1;
  }

  /** If asking the question about `this` gives an object, return it instead of running the method. */
  static InsnList answerEarly(MethodInsnNode question, String type) {
    LabelNode goOn = new LabelNode();
    InsnList code = list(load(0), question, op(Opcodes.DUP), new JumpInsnNode(Opcodes.IFNULL, goOn));
    code.add(list(new TypeInsnNode(Opcodes.CHECKCAST, type), op(Opcodes.ARETURN), goOn));
    // The locals are still those of the method's head, so the deltas of its later frames hold.
    code.add(new FrameNode(Opcodes.F_SAME1, 0, null, 1, new Object[] {"java/lang/Object"}));
    code.add(op(Opcodes.POP));
    return code;
  }
}
