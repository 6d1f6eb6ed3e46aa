package io.slaq.probe;

import java.lang.instrument.Instrumentation;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The Java agent: given at start with -javaagent, or attached to a driver that is already running. */
public final class Agent {
  /** Hooking takes a fraction of a second; a driver never waits longer than this for it. */
  private static final long PATIENCE_SECONDS = 20;

  private static final CountDownLatch DONE = new CountDownLatch(1);
  private static boolean installed;
  private static volatile double seconds;

  private Agent() {}

  /** While Spark starts on the main thread, the hooks are put in place on another. */
  public static void premain(String arguments, Instrumentation instrumentation) {
    if (begin()) {
      Thread thread = new Thread(() -> install(instrumentation), "slaq-hooks");
      thread.setDaemon(true);
      thread.start();
    }
  }

  public static void agentmain(String arguments, Instrumentation instrumentation) {
    if (begin()) {
      install(instrumentation);
    }
  }

  /** Whether this JVM has the agent; its hooks may still be on their way. */
  public static synchronized boolean installed() {
    return installed;
  }

  /** Whether this JVM has the agent, once its hooks are in place: to be asked before the first job. */
  public static boolean ready() throws InterruptedException {
    return installed() && DONE.await(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  /** How long it took to put the hooks in place. */
  public static double seconds() {
    return seconds;
  }

  /** The bytes a class would get, or null where it would keep its own; `name` with slashes. */
  public static byte[] rewritten(String name, byte[] bytes) {
    return new Rewriter(Hooks.all()).rewrite(name, bytes);
  }

  private static synchronized boolean begin() {
    boolean first = !installed;
    installed = true;
    return first;
  }

  private static void install(Instrumentation instrumentation) {
    long started = System.nanoTime();
    try {
      Hooks.ready();
      Rewriter rewriter = new Rewriter(Hooks.all());
      instrumentation.addTransformer(rewriter, true);
      for (String target : rewriter.targets()) {
        hook(instrumentation, rewriter, target);
      }
    } catch (Throwable t) {
      Health.missed("agent", t.toString());
    } finally {
      seconds = (System.nanoTime() - started) * 1e-9;
      DONE.countDown();
    }
  }

  /**
   * Loads one class as it is, then has the JVM exchange its code. The JVM verifies the new code first and refuses it where
   * it is not sound; the class then stays as it was. Code that is exchanged while a class is loaded is not verified
   * before the user's program runs into it.
   */
  private static void hook(Instrumentation instrumentation, Rewriter rewriter, String target) {
    try {
      Class<?> loaded = Class.forName(target.replace('/', '.'), false, ClassLoader.getSystemClassLoader());
      instrumentation.retransformClasses(loaded);
      rewriter.accepted(target);
    } catch (Throwable t) {
      rewriter.refused(target, t);
    }
  }
}
