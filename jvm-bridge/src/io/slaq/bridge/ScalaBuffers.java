package io.slaq.bridge;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import scala.collection.mutable.ArrayBuffer;

/** Appending to Scala's ArrayBuffer from one jar: the method's descriptor differs between Scala 2.12 and 2.13. */
final class ScalaBuffers {
  private static final MethodHandle APPEND = findAppend();

  private ScalaBuffers() {}

  static <T> void append(ArrayBuffer<T> buffer, T element) {
    try {
      APPEND.invokeExact((Object) buffer, (Object) element);
    } catch (Throwable t) {
      throw new IllegalStateException("ArrayBuffer.+= failed", t);
    }
  }

  static <T> void appendAll(ArrayBuffer<T> buffer, ArrayBuffer<T> more) {
    int length = more.length();
    for (int i = 0; i < length; i++) {
      append(buffer, more.apply(i));
    }
  }

  private static MethodHandle findAppend() {
    for (Method method : ArrayBuffer.class.getMethods()) {
      if (method.getName().equals("$plus$eq") && method.getParameterCount() == 1) {
        try {
          MethodHandle handle = MethodHandles.publicLookup().unreflect(method);
          return handle.asType(MethodType.methodType(void.class, Object.class, Object.class));
        } catch (IllegalAccessException e) {
          throw new IllegalStateException("ArrayBuffer.+= is not accessible", e);
        }
      }
    }
    throw new IllegalStateException("this Scala's ArrayBuffer has no +=");
  }
}
