package io.slaq.probe;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.tree.AbstractInsnNode;
import org.apache.xbean.asm9.tree.ClassNode;
import org.apache.xbean.asm9.tree.MethodInsnNode;
import org.apache.xbean.asm9.tree.MethodNode;

/** Puts the hooks into classes that are loaded; a class that is not as expected keeps its own bytes. */
final class Rewriter implements ClassFileTransformer {
  private static final String OURS = "io/slaq/";

  private final Map<String, List<Hook>> hooks = new LinkedHashMap<>();
  private final Map<String, List<String>> patched = new ConcurrentHashMap<>();
  private final Set<String> refused = ConcurrentHashMap.newKeySet();

  Rewriter(List<Hook> all) {
    for (Hook hook : all) {
      hooks.computeIfAbsent(hook.target, key -> new ArrayList<>()).add(hook);
    }
  }

  /** Internal names of the classes that get hooks. */
  Set<String> targets() {
    return hooks.keySet();
  }

  /** A class that is only being loaded stays as it is: nobody would verify its new code before it runs. */
  @Override
  public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    return old == null || name == null || refused.contains(name) ? null : rewrite(name, bytes);
  }

  byte[] rewrite(String name, byte[] bytes) {
    byte[] current = null;
    List<String> done = new ArrayList<>();
    for (Hook hook : hooks.getOrDefault(name, List.of())) {
      byte[] next = patch(hook, current == null ? bytes : current);
      if (next != null) {
        current = next;
        done.add(hook.name);
      }
    }
    patched.put(name, done);
    return current;
  }

  /** The JVM has taken the new code of a class. */
  void accepted(String name) {
    patched.getOrDefault(name, List.of()).forEach(Health::applied);
  }

  /** The JVM did not find a class or refused its new code: it keeps its own, also when others retransform it. */
  void refused(String name, Throwable reason) {
    refused.add(name);
    hooks.get(name).forEach(hook -> Health.missed(hook.name, firstLine(reason)));
  }

  /** Each hook works on its own copy, so that one that does not fit cannot spoil another. */
  private static byte[] patch(Hook hook, byte[] bytes) {
    try {
      ClassReader reader = new ClassReader(bytes);
      ClassNode node = new ClassNode();
      reader.accept(node, 0);
      int found = 0;
      for (MethodNode method : node.methods) {
        found += hook.patch.apply(method);
      }
      if (!hook.asExpected(found)) {
        Health.missed(hook.name, found + " places in " + hook.target);
        return null;
      }
      List<String> missing = Contract.missing(called(node));
      if (!missing.isEmpty()) {
        Health.missed(hook.name, "this Spark lacks " + String.join(", ", missing));
        return null;
      }
      // Frames are written by the patches themselves: computing them would load classes in the middle of a load.
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      node.accept(writer);
      return writer.toByteArray();
    } catch (Throwable t) {
      Health.missed(hook.name, t.toString());
      return null;
    }
  }

  /** The classes of ours that rewritten code calls. */
  private static Set<String> called(ClassNode node) {
    Set<String> owners = new TreeSet<>();
    for (MethodNode method : node.methods) {
      for (AbstractInsnNode instruction : method.instructions) {
        if (instruction instanceof MethodInsnNode && ((MethodInsnNode) instruction).owner.startsWith(OURS)) {
          owners.add(((MethodInsnNode) instruction).owner);
        }
      }
    }
    return owners;
  }

  private static String firstLine(Throwable reason) {
    return reason.toString().split("\n", 2)[0];
  }
}
