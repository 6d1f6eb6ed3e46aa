package io.slaq.probe;

import java.lang.invoke.MethodHandle;
import scala.None$;
import scala.Tuple3;

/** The question put at the head of TaskSetManager.resourceOffer: may this task set launch one more task? */
public final class GateHook {
  private static final String TARGET = "org/apache/spark/scheduler/TaskSetManager";

  /** What resourceOffer itself gives for an executor it must not use. */
  private static final Object NO = new Tuple3<>(None$.MODULE$, false, -1);

  /** Constant for the JIT; null when the bridge is not there, and then every offer passes. */
  private static final MethodHandle MAY_LAUNCH =
      Reflect.ifPresent("io.slaq.bridge.Gate", "mayLaunch", boolean.class, Object.class);

  private GateHook() {}

  /** Runs under the scheduler's lock at every offer. Null lets the offer pass. */
  public static Object refusal(Object taskSetManager) {
    if (MAY_LAUNCH == null || Health.stopped("gate")) {
      return null;
    }
    try {
      return (boolean) MAY_LAUNCH.invokeExact(taskSetManager) ? null : NO;
    } catch (Throwable t) {
      Health.failed("gate", t);
      return null;
    }
  }

  static Hook hook() {
    return new Hook("gate", TARGET, 1, method -> {
      if (!method.name.equals("resourceOffer") || !method.desc.endsWith(")Lscala/Tuple3;")) {
        return 0;
      }
      method.instructions.insert(
          Code.answerEarly(
              Code.call(GateHook.class, "refusal", "(Ljava/lang/Object;)Ljava/lang/Object;"), "scala/Tuple3"));
      return 1;
    });
  }
}
