package io.slaq.bridge;

/**
 * How long a job's driver pauses between two stages, learnt from the job itself.
 *
 * <p>Slots are held back for a job while its next stage may come any moment: whoever were given them in the pause would
 * keep them for a whole task. A job that pauses for long is not waited for at all, so little is lost to waiting.
 */
final class Pause {
  private static final double FIRST_GUESS_NANOS = 5e6;
  /** Longer pauses are not worth waiting for: about what a task takes that would fill them. */
  private static final double WORTH_NANOS = 50e6;
  /** One long pause, as between two fits, is not to outweigh many short ones. */
  private static final double COUNTED_NANOS = 2 * WORTH_NANOS;
  private static final double NEWEST = 0.3;
  /** Pauses vary; waiting for twice the usual catches nearly all. */
  private static final double PATIENCE = 2.0;

  private double usualNanos = FIRST_GUESS_NANOS;
  private long activeAt;

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
    usualNanos += NEWEST * (Math.min(now - activeAt, COUNTED_NANOS) - usualNanos);
  }

  /** When the next stage usually comes. */
  long expectedAt() {
    return activeAt + (long) usualNanos;
  }

  /** Until when the next stage is worth waiting for. */
  long expectedUntil() {
    return usualNanos > WORTH_NANOS ? activeAt : activeAt + (long) (PATIENCE * usualNanos);
  }
}
