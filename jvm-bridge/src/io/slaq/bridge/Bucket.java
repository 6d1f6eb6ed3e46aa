package io.slaq.bridge;

/**
 * A token bucket in core-seconds: tokens = ∫ (rate − drawing) dt, bounded by a burst of credit and a debt.
 *
 * <p>Not synchronized; its owner holds the scheduler's lock. Time is {@link System#nanoTime()} and arrives as a value.
 */
final class Bucket {
  /** Added to every predicted refill, so that the timer never fires a hair too early and finds nothing. */
  private static final long MARGIN_NANOS = 50_000;
  /** In cores: sums of shares are not exact. */
  private static final double ROUNDING = 1e-6;

  private final double task;
  private final double debtSeconds;
  private double rate;
  private double burstSeconds = 1.0;
  private double tokens;
  private double drawing;
  private long settledAt;

  /** For tasks of {@code task} cores each. Debt is forgiven beyond so many seconds of the rate, or of one task. */
  Bucket(double task, double debtSeconds, long now) {
    this.task = task;
    this.debtSeconds = debtSeconds;
    this.settledAt = now;
  }

  /** Cores per second of income; credit never exceeds {@code rate * burstSeconds}. */
  void setRate(long now, double newRate, double newBurstSeconds) {
    settle(now);
    rate = newRate;
    burstSeconds = newBurstSeconds;
    tokens = Math.min(tokens, rate * burstSeconds);
  }

  /** Starts (positive) or ends (negative) the use of some cores. */
  void draw(long now, double cores) {
    settle(now);
    drawing += cores;
  }

  /** Neither credit nor debt: what was used before the first grant is not charged. */
  void clear() {
    tokens = 0;
  }

  /** Whether the rate bears one more task beside so many: there are tokens, and the others use less than the rate. */
  boolean bears(long now, int tasks) {
    settle(now);
    return tokens > 0 && tasks * task < rate - ROUNDING;
  }

  /** When tokens will be above zero again; {@link Long#MAX_VALUE} if only the end of a task can make it so. */
  long refillsAt(long now) {
    settle(now);
    if (tokens > 0 || rate <= drawing) {
      return Long.MAX_VALUE;
    }
    double seconds = -tokens / (rate - drawing);
    return seconds > 1e6 ? Long.MAX_VALUE : now + (long) (seconds * 1e9) + MARGIN_NANOS;
  }

  /** Seconds of income in the bucket: the measure of who is late, in proportion to the rate. */
  double creditSeconds(long now) {
    settle(now);
    return rate > 0 ? tokens / rate : Double.NEGATIVE_INFINITY;
  }

  double rate() {
    return rate;
  }

  double tokens(long now) {
    settle(now);
    return tokens;
  }

  private void settle(long now) {
    double seconds = (now - settledAt) * 1e-9;
    if (seconds > 0) {
      double floor = -debtSeconds * Math.max(rate, task);
      tokens = Math.max(floor, Math.min(rate * burstSeconds, tokens + seconds * (rate - drawing)));
      settledAt = now;
    }
  }
}
