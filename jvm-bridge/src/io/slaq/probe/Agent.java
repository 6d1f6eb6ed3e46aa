package io.slaq.probe;

import java.lang.instrument.Instrumentation;

/** The Java agent: given at start with -javaagent, or attached to a driver that is already running. */
public final class Agent {
  private static boolean installed;

  private Agent() {}

  public static void premain(String arguments, Instrumentation instrumentation) {
    install(instrumentation);
  }

  public static void agentmain(String arguments, Instrumentation instrumentation) {
    install(instrumentation);
  }

  /** Whether the hooks are in place in this JVM. */
  public static synchronized boolean installed() {
    return installed;
  }

  /** The bytes a class would get, or null where it would keep its own; `name` with slashes. */
  public static byte[] rewritten(String name, byte[] bytes) {
    return new Rewriter(Hooks.all()).transform(null, name, null, null, bytes);
  }

  private static synchronized void install(Instrumentation instrumentation) {
    if (installed) {
      return;
    }
    installed = true;
    try {
      Hooks.ready();
      Rewriter rewriter = new Rewriter(Hooks.all());
      instrumentation.addTransformer(rewriter, true);
      for (Class<?> loaded : instrumentation.getAllLoadedClasses()) {
        if (rewriter.wants(loaded.getName().replace('.', '/'))) {
          instrumentation.retransformClasses(loaded);
        }
      }
    } catch (Throwable t) {
      Health.missed("agent", t.toString());
    }
  }
}
