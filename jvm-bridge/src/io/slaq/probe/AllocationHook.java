package io.slaq.probe;

import java.lang.invoke.MethodHandle;
import java.util.List;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.MethodNode;
import org.apache.xbean.asm9.tree.VarInsnNode;

/** The number of executors that dynamic allocation wants, put before the bridge, which knows the application's total. */
public final class AllocationHook {
  private static final String TARGET = "org/apache/spark/ExecutorAllocationManager";
  private static final String PLACE = "dynamic allocation";

  /** Null when the bridge is not there: the number stays what it is. */
  private static final MethodHandle NEEDED =
      Reflect.ifPresent("io.slaq.bridge.Executors", "needed", int.class, int.class, int.class);

  private AllocationHook() {}

  /** Runs several times a second in Spark's allocation thread. */
  public static int needed(int executors, int profile) {
    if (NEEDED == null || Health.stopped(PLACE)) {
      return executors;
    }
    try {
      return (int) NEEDED.invokeExact(executors, profile);
    } catch (Throwable t) {
      Health.failed(PLACE, t);
      return executors;
    }
  }

  static Hook hook() {
    return new Hook(PLACE, TARGET, 1, AllocationHook::bound);
  }

  private static int bound(MethodNode method) {
    if (!method.name.equals("maxNumExecutorsNeededPerResourceProfile") || !method.desc.equals("(I)I")) {
      return 0;
    }
    List<AbstractInsnNode> exits = Code.find(method, Code::isReturn);
    for (AbstractInsnNode exit : exits) {
      method.instructions.insertBefore(
          exit, Code.list(new VarInsnNode(Opcodes.ILOAD, 1), Code.call(AllocationHook.class, "needed", "(II)I")));
    }
    return Math.min(exits.size(), 1);
  }
}
