package io.slaq.bridge;

/**
 * A token bucket in core-seconds: income is the rate, spending is the cores in use, debt is carried, up to a
 * bound.
 *
 * <p>Not synchronized; its owner holds the scheduler's lock. Time is {@link System#nanoTime()} and arrives as a value.
 */
final class Bucket {
  /** Added to every predicted opening time, so that the timer never fires a hair too early and finds nothing. */
  private static final long MARGIN_NANOS = 50_000;

  /** In cores: sums of shares are not exact. */
  private static final double ROUNDING = 1e-6;

  /**
   * Debt beyond this is forgiven: tasks that were running when a rate was cut would else bar a job for minutes after it
   * is given cores again. In seconds of the rate or of one task, if that is more: tasks up to this long, one at a time,
   * are charged in full at any rate.
   */
  private static final double LONGEST_DEBT_SECONDS = 10;

  private final double task;
  private double rate;
  private double burstSeconds = 1.0;
  private double tokens;
  private double drawing;
  private long settledAt;

  /** For tasks that use {@code task} cores each. */
  Bucket(double task, long now) {
    this.task = task;
    settledAt = now;
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

  /** Gives up credit above {@code seconds} of the present rate; debt stays. */
  void clampCredit(double seconds) {
    tokens = Math.min(tokens, rate * seconds);
  }

  /** Neither credit nor debt: what was used before the first grant was nobody's to charge. */
  void clear() {
    tokens = 0;
  }

  /**
   * Whether one more task may start: there is credit, and rate and credit bear the task together with those that run.
   * The first one needs no more than credit, or a fraction of a core would never start any.
   */
  boolean hasRoom(long now) {
    settle(now);
    return tokens > 0 && tokens >= needed();
  }

  /** When there will be room if nothing else happens; {@link Long#MAX_VALUE} if only the end of a task can make it. */
  long roomAt(long now) {
    if (hasRoom(now)) {
      return now;
    }
    if (rate <= drawing || needed() > rate * burstSeconds) {
      return Long.MAX_VALUE;
    }
    double seconds = (Math.max(needed(), 0) - tokens) / (rate - drawing);
    return seconds > 1e6 ? Long.MAX_VALUE : now + (long) (seconds * 1e9) + MARGIN_NANOS;
  }

  /** Seconds of income in the bucket; pools are served in this order, so that lateness is shared in proportion. */
  double creditSeconds() {
    return rate > 0 ? tokens / rate : Double.NEGATIVE_INFINITY;
  }

  double rate() {
    return rate;
  }

  double tokens() {
    return tokens;
  }

  /** The credit that the next task wants to see. */
  private double needed() {
    return drawing <= 0 ? 0 : (drawing + task - rate - ROUNDING) * burstSeconds;
  }

  private void settle(long now) {
    double seconds = (now - settledAt) * 1e-9;
    if (seconds > 0) {
      double floor = -LONGEST_DEBT_SECONDS * Math.max(rate, task);
      tokens = Math.max(floor, Math.min(rate * burstSeconds, tokens + seconds * (rate - drawing)));
      settledAt = now;
    }
  }
}
