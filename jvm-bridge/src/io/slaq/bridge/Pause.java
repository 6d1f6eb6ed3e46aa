package io.slaq.bridge;

/**
 * How long a job's driver pauses between two stages, learnt from the job itself.
 *
 * <p>Slots that it leaves idle meanwhile are lent, and whoever gets one keeps it for a whole task.
 */
final class Pause {
  private static final double FIRST_GUESS_NANOS = 5e6;
  /** A job that pauses for longer comes back too late to be kept in mind. */
  private static final double LONGEST_NANOS = 100e6;
  /** One long pause, as between two fits, is not to outweigh many short ones. */
  private static final double COUNTED_NANOS = 2 * LONGEST_NANOS;
  private static final double NEWEST = 0.3;
  /** Pauses vary; twice the usual covers nearly all. */
  private static final double PATIENCE = 2.0;

  private double usualNanos = FIRST_GUESS_NANOS;
  private long activeAt;
  private long sumNanos;

  Pause(long now) {
    // A job that has not run yet is expected by nobody.
    activeAt = now - (long) COUNTED_NANOS;
  }

  /** One of the job's tasks has started or ended. */
  void active(long now) {
    activeAt = now;
  }

  /** A stage has come to a job that had no task left. */
  void ended(long now) {
    sumNanos += now - activeAt;
    usualNanos += NEWEST * (Math.min(now - activeAt, COUNTED_NANOS) - usualNanos);
  }

  /** All pauses so far, the one under way not counted. */
  double seconds() {
    return sumNanos * 1e-9;
  }

  long usualNanos() {
    return (long) usualNanos;
  }

  /** Until when the next stage may be expected any moment. */
  long expectedUntil() {
    return usualNanos > LONGEST_NANOS ? activeAt : activeAt + (long) (PATIENCE * usualNanos);
  }
}
