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
  private volatile FitListener listener;
  private final String thread = Thread.currentThread().getName();
  private final long beginMillis = System.currentTimeMillis();
  private final long beginNanos = System.nanoTime();

  private volatile boolean ended;
  private volatile String stream;
  private volatile long restsAt = System.nanoTime();
  private volatile String outer;
  private volatile int weight = 1;
  private volatile Session session = Session.NONE;
  private volatile String run;
  private String lossName;
  private int losses;
  private Object scratch;
  private Ending ending;
  private final Stop stop;

  /** What a hook has still to report when the fit ends well. */
  interface Ending {
    void report() throws Exception;
  }

  Fit(String job, Estimator estimator, Fit parent, FitListener listener) {
    this.job = job;
    this.estimator = estimator;
    this.parent = parent;
    this.listener = listener;
    this.stop = new Stop(estimator.name, estimator.params);
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

  /** The job or, outside of one, the pool of this thread when the fit began; null: none. */
  public String outer() {
    return outer;
  }

  /** The weight of the user's pool in which the fit began. */
  public int weight() {
    return weight;
  }

  /** The tracking run of the thread that called fit; null: none. */
  public String run() {
    return run;
  }

  public void setRun(String active) {
    run = active;
  }

  /** Whoever gives the fit a pool of its own tells where it began. */
  public void setOuter(String job, int poolWeight) {
    outer = job;
    weight = poolWeight;
  }

  Session session() {
    return session;
  }

  public void setSession(Session startedIn) {
    session = startedIn;
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

  /** The name of the thread in which it began. */
  public String thread() {
    return thread;
  }

  /** Threads born in a fit keep it for as long as they live; it must not keep the Spark context then. */
  void release() {
    listener = null;
  }

  /** The streaming operation whose mini-batches are this fit; null: it is one run from begin to end. */
  public String stream() {
    return stream;
  }

  void stream(String operation) {
    stream = operation;
  }

  /** A mini-batch is done. */
  void rests() {
    restsAt = System.nanoTime();
  }

  long silentNanos() {
    return System.nanoTime() - restsAt;
  }

  public long beginMillis() {
    return beginMillis;
  }

  long nanos() {
    return System.nanoTime() - beginNanos;
  }

  public boolean isOpen() {
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

  /** Its early end, if somebody asks for one. */
  Stop stop() {
    return stop;
  }
}
