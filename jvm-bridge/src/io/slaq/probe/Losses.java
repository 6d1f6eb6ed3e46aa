package io.slaq.probe;

/** What the simple hooks call: a number that Spark has just computed, turned so that lower is better. */
public final class Losses {
  private Losses() {}

  /** A state of a Breeze optimizer; its adjusted value has the L1 term in it, as objectiveHistory has. */
  public static void state(Object state) {
    if (Health.stopped("breeze")) {
      return;
    }
    try {
      objective(((breeze.optimize.FirstOrderMinimizer.State<?, ?, ?>) state).adjustedValue());
    } catch (Throwable t) {
      Health.failed("breeze", t);
    }
  }

  /** The regularised objective of an optimizer. */
  public static void objective(double value) {
    report("objective", value);
  }

  /** The cost of k-means: weighted distances to the nearest centre, squared unless cosine. */
  public static void cost(double value) {
    report("cost", value);
  }

  public static void logLikelihood(double value) {
    report("negLogLikelihood", -value);
  }

  /** How far the vector of power iteration moved (L1), which is what the algorithm itself watches. */
  public static void delta(double value) {
    report("delta", value);
  }

  /** A value logged by an ml estimator under a name. */
  public static void named(String name, double value) {
    if (name != null && name.startsWith("logLikelihood@iter")) {
      logLikelihood(value);
    }
  }

  static void report(String name, double value) {
    if (Health.stopped(name)) {
      return;
    }
    try {
      Fits.loss(name, value);
    } catch (Throwable t) {
      Health.failed(name, t);
    }
  }
}
