package io.slaq.probe;

/** Told of every job in the thread that runs it; wrappers such as CrossValidator are not jobs and not announced. */
public interface FitListener {
  /** Runs before the fit's first Spark job. */
  void begun(Fit fit);

  /** {@code failure} is null for a fit that came to its end. */
  void ended(Fit fit, Throwable failure);
}
