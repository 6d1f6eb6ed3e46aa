package io.slaq.probe;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Members that the Java compiler does not see: those that Scala made private, and those of the bridge. */
final class Reflect {
  private Reflect() {}

  /** Call a method without arguments. */
  static Object get(Object owner, String method) throws ReflectiveOperationException {
    Method getter = owner.getClass().getMethod(method);
    getter.setAccessible(true);
    return getter.invoke(owner);
  }

  /** Read a field declared by the object's own class. */
  static Object field(Object owner, String name) throws ReflectiveOperationException {
    Field field = owner.getClass().getDeclaredField(name);
    field.setAccessible(true);
    return field.get(owner);
  }

  /** A public static method of a class that may not be there, or null. */
  static MethodHandle ifPresent(String owner, String name, Class<?> result, Class<?>... parameters) {
    try {
      MethodType type = MethodType.methodType(result, parameters);
      return MethodHandles.publicLookup().findStatic(Class.forName(owner), name, type);
    } catch (ReflectiveOperationException | LinkageError absent) {
      return null;
    }
  }
}
