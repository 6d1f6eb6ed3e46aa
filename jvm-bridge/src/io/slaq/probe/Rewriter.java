package io.slaq.probe;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.xbean.asm9.ClassReader;
import org.apache.xbean.asm9.ClassWriter;
import org.apache.xbean.asm9.tree.ClassNode;
import org.apache.xbean.asm9.tree.MethodNode;

/** Puts the hooks into classes as they are loaded; a class that is not as expected keeps its own bytes. */
final class Rewriter implements ClassFileTransformer {
  private final Map<String, List<Hook>> hooks = new HashMap<>();

  Rewriter(List<Hook> all) {
    for (Hook hook : all) {
      hooks.computeIfAbsent(hook.target, key -> new ArrayList<>()).add(hook);
    }
  }

  boolean wants(String internalName) {
    return hooks.containsKey(internalName);
  }

  @Override
  public byte[] transform(ClassLoader loader, String name, Class<?> old, ProtectionDomain domain, byte[] bytes) {
    List<Hook> wanted = name == null ? null : hooks.get(name);
    if (wanted == null) {
      return null;
    }
    byte[] current = null;
    for (Hook hook : wanted) {
      byte[] patched = patch(hook, current == null ? bytes : current);
      if (patched != null) {
        current = patched;
      }
    }
    return current;
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
      // Frames are written by the patches themselves: computing them would load classes in the middle of a load.
      ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
      node.accept(writer);
      Health.applied(hook.name);
      return writer.toByteArray();
    } catch (Throwable t) {
      Health.missed(hook.name, t.toString());
      return null;
    }
  }
}
