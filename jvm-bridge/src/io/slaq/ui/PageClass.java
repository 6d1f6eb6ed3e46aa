package io.slaq.ui;

import java.lang.invoke.MethodHandles;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.function.UnaryOperator;
import org.apache.spark.ui.WebUIPage;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.MethodVisitor;
import org.apache.xbean.asm9.Opcodes;
import org.apache.xbean.asm9.Type;

/**
 * A subclass of Spark's {@code WebUIPage}, made when it is needed.
 *
 * <p>Its one abstract method takes a request of {@code javax} or {@code jakarta} and returns a sequence whose type depends on
 * the version of Scala, so no class that is compiled once fits every Spark.
 */
final class PageClass {
  private static final String NAME = "io/slaq/ui/GeneratedPage";
  private static final String PARENT = Type.getInternalName(WebUIPage.class);
  private static final String OPERATOR = Type.getInternalName(UnaryOperator.class);
  private static final String OPERATOR_TYPE = Type.getDescriptor(UnaryOperator.class);

  private static Class<?> made;

  private PageClass() {}

  /** The page at the tab's own address whose {@code render} asks the operator. */
  static synchronized WebUIPage make(UnaryOperator<Object> render) throws ReflectiveOperationException {
    if (made == null) {
      made = MethodHandles.lookup().defineClass(code());
    }
    return (WebUIPage) made.getConstructor(UnaryOperator.class).newInstance(render);
  }

  private static byte[] code() throws NoSuchMethodException {
    ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
    writer.visit(Opcodes.V11, Opcodes.ACC_PUBLIC | Opcodes.ACC_FINAL, NAME, null, PARENT, null);
    writer.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL, "render", OPERATOR_TYPE, null, null).visitEnd();

    MethodVisitor made = writer.visitMethod(Opcodes.ACC_PUBLIC, "<init>", "(" + OPERATOR_TYPE + ")V", null, null);
    made.visitCode();
    made.visitVarInsn(Opcodes.ALOAD, 0);
    made.visitLdcInsn("");
    made.visitMethodInsn(Opcodes.INVOKESPECIAL, PARENT, "<init>", "(Ljava/lang/String;)V", false);
    made.visitVarInsn(Opcodes.ALOAD, 0);
    made.visitVarInsn(Opcodes.ALOAD, 1);
    made.visitFieldInsn(Opcodes.PUTFIELD, NAME, "render", OPERATOR_TYPE);
    made.visitInsn(Opcodes.RETURN);
    made.visitMaxs(0, 0);
    made.visitEnd();

    Method render = render();
    MethodVisitor asked =
        writer.visitMethod(Opcodes.ACC_PUBLIC, render.getName(), Type.getMethodDescriptor(render), null, null);
    asked.visitCode();
    asked.visitVarInsn(Opcodes.ALOAD, 0);
    asked.visitFieldInsn(Opcodes.GETFIELD, NAME, "render", OPERATOR_TYPE);
    asked.visitVarInsn(Opcodes.ALOAD, 1);
    asked.visitMethodInsn(Opcodes.INVOKEINTERFACE, OPERATOR, "apply", "(Ljava/lang/Object;)Ljava/lang/Object;", true);
    asked.visitTypeInsn(Opcodes.CHECKCAST, Type.getInternalName(render.getReturnType()));
    asked.visitInsn(Opcodes.ARETURN);
    asked.visitMaxs(0, 0);
    asked.visitEnd();
    writer.visitEnd();
    return writer.toByteArray();
  }

  /** The method to implement; any other that Spark has made abstract is one too many. */
  private static Method render() throws NoSuchMethodException {
    Method found = null;
    for (Method method : WebUIPage.class.getMethods()) {
      if (Modifier.isAbstract(method.getModifiers())) {
        if (found != null || !method.getName().equals("render") || method.getParameterCount() != 1) {
          throw new NoSuchMethodException("org.apache.spark.ui.WebUIPage has the unknown abstract method " + method);
        }
        found = method;
      }
    }
    if (found == null) {
      throw new NoSuchMethodException("org.apache.spark.ui.WebUIPage.render");
    }
    return found;
  }
}
