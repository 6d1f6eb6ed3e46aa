package io.slaq.probe;

import org.apache.spark.SparkContext;
import org.apache.spark.rdd.RDD;

/**
 * The objective of alternating least squares, explicit and implicit, per rating, without a pass of its own.
 *
 * <p>Solving (A + λI)x = b for one user or item leaves constant − x·b of its squared errors and penalty (also with
 * x ≥ 0, by complementary slackness). The solver has x and b in hand, so a solver that also adds up x·b and λ|x|² in
 * the tasks gives the objective after every half step; the constant is summed over the ratings once, in the first
 * half step's own tasks. Spark evaluates explicit ALS lazily, in one job for many iterations: there is no moment on
 * the driver between iterations, and the values come when the tasks of a stage report.
 */
public final class Als {
  private static final int RATINGS = 0;

  private final Fit fit;
  private final Tally tally = new Tally(this::merged);

  /** Half steps so far: all items, all users, all items... Half h is step h + 1 of the tally. */
  private int halves;
  private int reported;
  private double users;
  private boolean ended;

  private Als(Fit fit, SparkContext context) {
    this.fit = fit;
    context.register(tally);
    fit.atEnd(this::end);
  }

  /** At the head of computeFactors: a solver that also counts, or the given one. */
  public static Object solver(Object solver, RDD<?> destination) {
    if (Health.stopped("als")) {
      return solver;
    }
    try {
      Health.check("als");
      Fit fit = ExtraWork.inModel(destination);
      return fit == null ? solver : state(fit, destination).counting(solver);
    } catch (Throwable t) {
      Health.failed("als", t);
      return solver;
    }
  }

  /** At the head of computeFactors, after the solver: for the first half step, ratings that are also summed. */
  public static Object ratings(RDD<?> destination, boolean implicitPrefs, double alpha) {
    if (Health.stopped("als")) {
      return destination;
    }
    try {
      Fit fit = ExtraWork.inModel(destination);
      Als state = fit == null ? null : fit.scratchOf(Als.class);
      if (state == null || state.halves != 1) {
        return destination;
      }
      return summed(destination, new AlsRatings(state.tally, RATINGS, implicitPrefs, alpha));
    } catch (Throwable t) {
      Health.failed("als", t);
      return destination;
    }
  }

  @SuppressWarnings("unchecked")
  private static RDD<Object> summed(RDD<?> blocks, AlsRatings counter) {
    RDD<Object> typed = (RDD<Object>) blocks;
    return typed.mapPartitions(counter, true, typed.elementClassTag());
  }

  private static Als state(Fit fit, RDD<?> destination) {
    return fit.scratch(Als.class, () -> new Als(fit, destination.sparkContext()));
  }

  private synchronized Object counting(Object solver) {
    return new AlsSolver(solver, tally, ++halves);
  }

  /** Whenever a task has reported, on the driver's event loop. */
  private synchronized void merged() {
    while (2 * reported + 1 < halves && whole(2 * reported + 2)) {
      report();
    }
  }

  private synchronized void end() {
    ended = true;
    merged();
  }

  /**
   * Whether all users of a step are solved. Their number is known after the first time, when the next step's first
   * values (stages run in order) or the end of the fit tell it.
   */
  private boolean whole(int step) {
    double solved = tally.total(step)[Tally.COUNT];
    return users > 0 ? solved == users : solved > 0 && (ended || tally.total(step + 1)[Tally.COUNT] > 0);
  }

  private void report() {
    double[] constant = tally.total(RATINGS);
    double[] items = tally.total(2 * reported + 1);
    double[] solved = tally.total(2 * reported + 2);
    users = solved[Tally.COUNT];
    double objective = constant[Tally.SUM] - solved[Tally.SUM] + items[Tally.OTHER];
    fit.loss("objective", objective / constant[Tally.COUNT]);
    tally.forget(2 * reported + 1);
    tally.forget(2 * reported + 2);
    reported++;
  }
}
