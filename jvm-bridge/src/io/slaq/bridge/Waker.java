package io.slaq.bridge;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.spark.scheduler.SchedulerBackend;

/**
 * Asks Spark for a new round of offers at the moment a pool without quotas can get one.
 *
 * <p>No back end does this by itself: the local one never revives, the others once a second. One timer, always set to
 * the earliest moment asked for. Guarded by the scheduler's lock; reviving itself is a message and needs none.
 */
final class Waker {
  private static final long SHORTEST_PAUSE_NANOS = 500_000;

  /** Whether to revive: at a moment that was asked for for certain, or one at which it was to be looked. */
  interface Check {
    boolean worthReviving(boolean certain);
  }

  private final Object lock;
  private final SchedulerBackend backend;
  private final ScheduledThreadPoolExecutor timer;
  private Check check = certain -> certain;
  private ScheduledFuture<?> pending;
  private long pendingAt = Long.MAX_VALUE;
  private long certainAt = Long.MAX_VALUE;
  private long revivedAt;
  private long revivals;

  Waker(Object lock, SchedulerBackend backend, long now) {
    this.lock = lock;
    this.backend = backend;
    this.revivedAt = now;
    timer = new ScheduledThreadPoolExecutor(1, task -> {
      Thread thread = new Thread(task, "slaq-waker");
      thread.setDaemon(true);
      return thread;
    });
    timer.setRemoveOnCancelPolicy(true);
    timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
  }

  void setCheck(Check value) {
    check = value;
  }

  /** Revives at {@code at}, or earlier; {@link Long#MAX_VALUE}: never. */
  void wakeAt(long now, long at) {
    if (at != Long.MAX_VALUE) {
      long moment = Math.max(at, revivedAt + SHORTEST_PAUSE_NANOS);
      certainAt = Math.min(certainAt, moment);
      arm(now, moment);
    }
  }

  /** Revives at {@code at} if that is worth it then. */
  void checkAt(long now, long at) {
    arm(now, Math.max(at, revivedAt + SHORTEST_PAUSE_NANOS));
  }

  long revivals() {
    return revivals;
  }

  void stop() {
    timer.shutdownNow();
  }

  private void arm(long now, long moment) {
    if (timer.isShutdown() || (pending != null && pendingAt <= moment)) {
      return;
    }
    if (pending != null) {
      pending.cancel(false);
    }
    pendingAt = moment;
    pending = timer.schedule(this::fire, Math.max(0, moment - now), TimeUnit.NANOSECONDS);
  }

  private void fire() {
    try {
      synchronized (lock) {
        long now = System.nanoTime();
        pending = null;
        boolean certain = certainAt <= now;
        certainAt = certain ? Long.MAX_VALUE : certainAt;
        boolean revive = check.worthReviving(certain);
        wakeAt(now, certainAt);
        if (!revive) {
          return;
        }
        revivedAt = now;
        revivals++;
      }
      backend.reviveOffers();
    } catch (Throwable t) {
      Faults.record("revive", t);
    }
  }
}
