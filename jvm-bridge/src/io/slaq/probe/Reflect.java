package io.slaq.probe;

import java.lang.reflect.Field;
import java.lang.reflect.Method;

/** Members of classes that Scala made private, which the Java compiler refuses to see. */
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
}
