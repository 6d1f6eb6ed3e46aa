package io.slaq.bridge;

import java.util.Collection;

/**
 * Work conservation inside one driver: a slot that no job can use on its own account goes to one that has none left.
 *
 * <p>Two things bound it. The driver as a whole keeps to its total, by a bucket that every task draws on. And while a job
 * rests between two stages (see {@link Pause}), its slots are lent for short tasks only: a long one would keep them from
 * it for many of its own. Guarded by the scheduler's lock.
 */
final class Lender {
  private static final double BURST_SECONDS = 0.1;

  private final double coresPerTask;
  private final Bucket driver;
  private boolean strict;
  private int slots;
  private int running;
  private double total = Double.NaN;
  private long totalLeaseEnds;
  private long totalLeaseNanos;

  Lender(double coresPerTask, boolean strict, long now) {
    this.coresPerTask = coresPerTask;
    this.strict = strict;
    this.driver = new Bucket(coresPerTask, now);
  }

  void setStrict(boolean value) {
    strict = value;
  }

  boolean strict() {
    return strict;
  }

  /** How many tasks the executors can run at once. */
  void setSlots(int value) {
    slots = value;
  }

  int slots() {
    return slots;
  }

  /** Cores this driver may use in all, if it shares the cluster with others; NaN: all its slots. */
  void setTotal(long now, double cores, long leaseEnds) {
    total = cores;
    totalLeaseEnds = leaseEnds;
    totalLeaseNanos = leaseEnds - now;
  }

  /** How long a job without a grant waits for others to leave it something: as long as silence would be endured. */
  long patienceNanos() {
    return totalLeaseNanos;
  }

  /** Whether a total is in force: jobs without a grant then live on what the others leave of it. */
  boolean bounded(long now) {
    return !strict && !Double.isNaN(total) && now - totalLeaseEnds < 0;
  }

  /** Takes up what may have changed since the last round: the total, its lease, the executors. */
  void refresh(long now) {
    double executors = slots * coresPerTask;
    driver.setRate(now, bounded(now) ? Math.min(total, executors) : executors, BURST_SECONDS);
  }

  /** Whether any slot is idle at all; most rounds of a busy driver need not ask further. */
  boolean hasIdleSlot() {
    return !strict && running < slots;
  }

  /** Whether a task of that length may start on what the pools leave; asked after those that pay have been served. */
  boolean hasRoom(long now, Collection<JobPool> pools, long taskNanos) {
    return hasIdleSlot() && driver.hasRoom(now) && running + heldBack(now, pools, taskNanos) < slots;
  }

  /** When there may be room though no task ends: a job is awaited no longer, the bucket refills, a lease ends. */
  long roomAt(long now, Collection<JobPool> pools) {
    if (!hasIdleSlot()) {
      return Long.MAX_VALUE;
    }
    long at = bounded(now) ? totalLeaseEnds : Long.MAX_VALUE;
    if (!driver.hasRoom(now)) {
      return Math.min(at, driver.roomAt(now));
    }
    for (JobPool pool : pools) {
      if (pool.share().awaited(now)) {
        at = Math.min(at, pool.share().awaitedUntil());
      }
    }
    return at;
  }

  /** Counts tasks that start (or, negative, end), whoever pays for them. */
  void ran(long now, int tasks) {
    running += tasks;
    driver.draw(now, tasks * coresPerTask);
  }

  /** Slots that jobs between two stages will want back sooner than a task of that length is over. */
  private static int heldBack(long now, Collection<JobPool> pools, long taskNanos) {
    int held = 0;
    for (JobPool pool : pools) {
      Share share = pool.share();
      if (taskNanos > share.shortLoanNanos() && share.awaited(now)) {
        held += share.claimed();
      }
    }
    return held;
  }
}
