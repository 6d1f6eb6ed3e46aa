package io.slaq.probe;

import java.util.Map;

/**
 * One training run: the innermost fit of an estimator, in the thread that runs it.
 *
 * <p>Pipeline, CrossValidator, TrainValidationSplit and OneVsRest only start other fits: they are wrappers, known as the
 * parents of jobs but never jobs themselves.
 */
public final class Fit {
  private final String job;
  private final Estimator estimator;
  private final Fit parent;
  private final FitListener listener;
  private final Thread thread = Thread.currentThread();
  private final long beginMillis = System.currentTimeMillis();
  private final long beginNanos = System.nanoTime();

  private volatile boolean ended;
  private volatile String outerPool;
  private String lossName;
  private int losses;
  private Object scratch;
  private Ending ending;

  /** What a hook has still to report when the fit ends well. */
  interface Ending {
    void report() throws Exception;
  }

  Fit(String job, Estimator estimator, Fit parent, FitListener listener) {
    this.job = job;
    this.estimator = estimator;
    this.parent = parent;
    this.listener = listener;
  }

  /** Unique in this JVM: "fit-1", "fit-2", ... */
  public String job() {
    return job;
  }

  /** Simple class name, such as "KMeans" or "SVMWithSGD". */
  public String estimator() {
    return estimator.name;
  }

  /** The estimator's uid, or null for the old mllib API. */
  public String uid() {
    return estimator.uid;
  }

  /** "ml" or "mllib". */
  public String api() {
    return estimator.api;
  }

  /** The fit that started this one, or null. */
  public Fit parent() {
    return parent;
  }

  /** True for a fit that only starts other fits. */
  public boolean wrapper() {
    return estimator.wrapper;
  }

  /** The pool of this thread when the fit began: the job of a user who gave the fit a name, or null. */
  public String outerPool() {
    return outerPool;
  }

  /** Whoever gives the fit a pool of its own tells in which one it began. */
  public void setOuterPool(String pool) {
    outerPool = pool;
  }

  /** Numbers, strings and booleans the estimator was given; iterations and tolerance are always maxIter and tol. */
  public Map<String, Object> params() {
    return estimator.params;
  }

  /** How the curve is known to fall: sublinear, linear, superlinear, noisy, or none where no curve comes. */
  public String convergence() {
    return estimator.convergence;
  }

  /** Who hears of this fit's beginning, hence of its end, even if nobody listens to new ones by then; or null. */
  FitListener listener() {
    return wrapper() ? null : listener;
  }

  public Thread thread() {
    return thread;
  }

  public long beginMillis() {
    return beginMillis;
  }

  long nanos() {
    return System.nanoTime() - beginNanos;
  }

  boolean isOpen() {
    return !ended;
  }

  /**
   * Record the next value of the curve, lower being better. The first reporter of a fit owns its curve: values of
   * another meaning (the k-means that ends power iteration clustering) are left out, for two units make no curve.
   */
  void loss(String name, double value) {
    synchronized (this) {
      if (lossName == null) {
        lossName = name;
      } else if (!lossName.equals(name)) {
        return;
      }
      Events.add(Event.loss(this, losses++, name, value));
    }
  }

  /** How many values the curve has so far. */
  synchronized int losses() {
    return losses;
  }

  /** Have this called before the fit ends; the last one asked for counts. */
  void atEnd(Ending last) {
    ending = last;
  }

  /** State of a hook that outlives one call; each estimator has at most one such hook. */
  synchronized <T> T scratch(Class<T> type, java.util.function.Supplier<T> make) {
    if (!type.isInstance(scratch)) {
      scratch = make.get();
    }
    return type.cast(scratch);
  }

  /** The state made earlier, or null. */
  synchronized <T> T scratchOf(Class<T> type) {
    return type.isInstance(scratch) ? type.cast(scratch) : null;
  }

  void end(Throwable failure) {
    if (failure == null && ending != null) {
      try {
        ending.report();
      } catch (Throwable t) {
        Health.failed("ending", t);
      }
    }
    ended = true;
    scratch = null;
    ending = null;
    Events.add(Event.end(this, failure));
  }
}
