package io.slaq.bridge;

/** The largest value noted in the last one to two windows, in constant space: two buckets that take turns. */
final class RecentPeak {
  private final long windowNanos;
  private long startedAt;
  private int current;
  private int previous;
  private int latest;

  RecentPeak(long windowNanos, long now) {
    this.windowNanos = windowNanos;
    this.startedAt = now;
  }

  void note(long now, int value) {
    turn(now);
    latest = value;
    current = Math.max(current, value);
  }

  int peak(long now) {
    turn(now);
    return Math.max(previous, current);
  }

  private void turn(long now) {
    long age = now - startedAt;
    if (age >= windowNanos) {
      previous = age < 2 * windowNanos ? current : latest;
      current = latest;
      startedAt = now;
    }
  }
}
