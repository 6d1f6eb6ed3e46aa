package io.slaq.bridge;

import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.apache.spark.scheduler.SchedulerBackend;

/**
 * Asks Spark for a new round of offers at the moment a throttled pool can use one.
 *
 * <p>No back end does this by itself: the local one never revives, the others once a second. One timer, always set to
 * the earliest moment asked for. Guarded by the scheduler's lock; reviving itself is a message and needs none.
 */
final class Waker {
  private static final long SHORTEST_PAUSE_NANOS = 500_000;

  private final Object lock;
  private final SchedulerBackend backend;
  private final ScheduledThreadPoolExecutor timer;
  private ScheduledFuture<?> pending;
  private long pendingAt = Long.MAX_VALUE;
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

  /** Sets the timer to {@code at} unless it is set earlier already. */
  void wakeAt(long now, long at) {
    if (at == Long.MAX_VALUE || timer.isShutdown()) {
      return;
    }
    long moment = Math.max(at, revivedAt + SHORTEST_PAUSE_NANOS);
    if (pending != null && pendingAt <= moment) {
      return;
    }
    if (pending != null) {
      pending.cancel(false);
    }
    pendingAt = moment;
    pending = timer.schedule(this::revive, Math.max(0, moment - now), TimeUnit.NANOSECONDS);
  }

  long revivals() {
    return revivals;
  }

  void stop() {
    timer.shutdownNow();
  }

  private void revive() {
    synchronized (lock) {
      pending = null;
      pendingAt = Long.MAX_VALUE;
      revivedAt = System.nanoTime();
      revivals++;
    }
    try {
      backend.reviveOffers();
    } catch (Throwable t) {
      Faults.record("revive", t);
    }
  }
}
