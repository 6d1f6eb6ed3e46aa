package io.slaq.bridge;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import org.apache.spark.scheduler.FairSchedulingAlgorithm;
import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.SchedulingMode;
import org.apache.spark.scheduler.TaskSetManager;
import scala.Enumeration;
import scala.collection.mutable.ArrayBuffer;

/**
 * All job pools of one driver, and the order in which an offer reaches them.
 *
 * <p>Every method is called under the scheduler's lock (the object given as {@code lock}).
 */
final class Pools {
  static final String DEFAULT = "default";
  /** How long the pool of a job that nobody announced outlives its last stage. */
  static final long LINGER_NANOS = 60_000_000_000L;

  private static final FairSchedulingAlgorithm FAIR = new FairSchedulingAlgorithm();

  private final Object lock;
  private final Pool root;
  private final Waker waker;
  private final Lender lender;
  private final Usages usages;
  private final double coresPerTask;
  private final Map<String, JobPool> byName = new LinkedHashMap<>();
  private volatile long executorsSeen;
  private long sweptAt = System.nanoTime();
  private long rounds;
  private long leasesExpired;

  Pools(Object lock, Pool root, Waker waker, Lender lender, Usages usages, double coresPerTask) {
    this.lock = lock;
    this.root = root;
    this.waker = waker;
    this.lender = lender;
    this.usages = usages;
    this.coresPerTask = coresPerTask;
  }

  /** The pool of that name; made, as Spark makes one, for a name nobody has announced. */
  JobPool find(String name) {
    JobPool pool = byName.get(name);
    return pool != null ? pool : add(name, SchedulingMode.FIFO(), 0, 1, false);
  }

  JobPool add(String name, Enumeration.Value mode, int minShare, int weight, boolean permanent) {
    Share share = new Share(coresPerTask, System.nanoTime());
    JobPool pool = new JobPool(this, name, mode, minShare, weight, permanent, share);
    byName.put(name, pool);
    root.addSchedulable(pool);
    return pool;
  }

  JobPool get(String name) {
    return byName.get(name);
  }

  Collection<JobPool> all() {
    return byName.values();
  }

  /** Job pools go with their job, or with the last task that outlives it; from time to time those that lingered go. */
  void retireIfUnused(JobPool pool) {
    long now = System.nanoTime();
    retireIfUnused(pool, now);
    if (now - sweptAt >= LINGER_NANOS) {
      sweptAt = now;
      new ArrayList<>(byName.values()).forEach(other -> retireIfUnused(other, now));
    }
  }

  private void retireIfUnused(JobPool pool, long now) {
    if (pool.unused(now) && byName.remove(pool.name(), pool)) {
      root.removeSchedulable(pool);
      Share share = pool.share();
      pool.usage().close(now, share.heldSeconds(now), share.borrowedSeconds(now), share.pausedSeconds());
      usages.closed(pool.usage());
    }
  }

  /** Takes all pools out; a fit or a task that ends later finds nothing of its own here, and leaves Spark's pools alone. */
  List<JobPool> removeAll() {
    List<JobPool> removed = new ArrayList<>(byName.values());
    byName.clear();
    removed.forEach(root::removeSchedulable);
    return removed;
  }

  /**
   * The task sets in the order of service: jobs without a grant that hold nothing, so that everybody starts; granted
   * jobs, the latest first; the other jobs without a grant, as Spark's fair scheduler would; at last the borrowers.
   */
  ArrayBuffer<TaskSetManager> order(long now) {
    rounds++;
    List<JobPool> first = new ArrayList<>();
    List<JobPool> granted = new ArrayList<>();
    List<JobPool> rest = new ArrayList<>();
    List<JobPool> shut = new ArrayList<>();
    for (JobPool pool : byName.values()) {
      Share share = pool.share();
      endLease(pool, now);
      if (pool.isEmpty()) {
        continue;
      }
      pool.observe(now);
      boolean room = hasRoom(pool, now);
      pool.setRefused(!room && pool.pending() > 0);
      pool.setBorrowing(!room);
      List<JobPool> group = !room ? shut : share.limited() ? granted : starts(pool) ? first : rest;
      group.add(pool);
    }
    sortFairly(first);
    sortBy(granted, pool -> -pool.share().creditSeconds());
    sortFairly(rest);
    first.addAll(granted);
    first.addAll(rest);
    first.addAll(borrowers(now, shut));
    return collect(first);
  }

  void endLease(JobPool pool, long now) {
    if (pool.share().expire(now)) {
      leasesExpired++;
    }
  }

  /** What stock Spark's fair scheduler would answer; used when our own answer failed. */
  ArrayBuffer<TaskSetManager> stockOrder() {
    List<JobPool> pools = new ArrayList<>(byName.values());
    sortFairly(pools);
    ArrayBuffer<TaskSetManager> queue = new ArrayBuffer<>();
    for (JobPool pool : pools) {
      ScalaBuffers.appendAll(queue, pool.stockTaskSets());
    }
    return queue;
  }

  /**
   * Whether a job's next task may start on its own account. Without a grant it has one only if nothing is bounded, or if
   * it was left waiting: whoever shares out the total may not know of it, and nothing else would ever open its pool.
   */
  boolean hasRoom(JobPool pool, long now) {
    Share share = pool.share();
    boolean leftWaiting = waits(pool) && now - opensAt(pool) >= 0;
    return share.hasRoom(now) && (share.limited() || !lender.bounded(now) || leftWaiting);
  }

  /** One task at a time is all that waiting earns. */
  private static boolean waits(JobPool pool) {
    return pool.waits() && pool.share().running() == 0;
  }

  private long opensAt(JobPool pool) {
    return pool.waitingSince() + lender.patienceNanos();
  }

  private long roomAt(JobPool pool, long now) {
    return waits(pool) ? opensAt(pool) : pool.share().roomAt(now);
  }

  boolean bounded(long now) {
    return lender.bounded(now);
  }

  /** Whether the gate may let a borrowed task through; if not, the next round comes when that may have changed. */
  boolean lends(long now, long taskNanos) {
    if (lender.hasRoom(now, byName.values(), taskNanos)) {
      return true;
    }
    waker.wakeAt(now, lender.roomAt(now, byName.values()));
    return false;
  }

  void started(JobPool pool, int tasks, boolean borrowing) {
    long now = System.nanoTime();
    pool.share().started(now, tasks, borrowing);
    lender.ran(now, tasks);
  }

  /** Spark offers the freed slot next, but only that one; a refused pool may want others as well. */
  void ended(JobPool pool, int tasks) {
    long now = System.nanoTime();
    pool.share().ended(now, tasks);
    lender.ran(now, -tasks);
    if (pool.refused()) {
      waker.wakeAt(now, roomAt(pool, now));
    }
    retireIfUnused(pool);
  }

  /** The gate stopped a pool in the middle of a round; the next round may find cores to lend to it. */
  void refused(JobPool pool, long now) {
    waker.wakeAt(now, lender.strict() ? roomAt(pool, now) : now);
  }

  void wakeNow() {
    long now = System.nanoTime();
    waker.wakeAt(now, now);
  }

  void executorsChanged(int slots) {
    synchronized (lock) {
      executorsSeen++;
      lender.setSlots(slots);
      wakeNow();
    }
  }

  long executorsSeen() {
    return executorsSeen;
  }

  Lender lender() {
    return lender;
  }

  Object lock() {
    return lock;
  }

  long rounds() {
    return rounds;
  }

  long revivals() {
    return waker.revivals();
  }

  long leasesExpired() {
    return leasesExpired;
  }

  private List<JobPool> borrowers(long now, List<JobPool> shut) {
    shut.removeIf(pool -> pool.pending() == 0);
    lender.refresh(now);
    List<JobPool> borrowers = new ArrayList<>();
    // The gate asks again for each task, after the jobs that pay for theirs have been served; without it this must do.
    if (!shut.isEmpty() && (Gate.active() ? lender.hasIdleSlot() : lends(now, Share.UNKNOWN_LENGTH))) {
      borrowers.addAll(shut);
      borrowers.removeIf(pool -> !pool.share().mayBorrow());
    }
    for (JobPool pool : shut) {
      waker.wakeAt(now, roomAt(pool, now));
    }
    sortBy(borrowers, pool -> pool.share().borrowedPerCore(now));
    sortBy(borrowers, pool -> pool.share().standby());
    // As under Spark's fair scheduler: two tasks of one job side by side take more CPU time than those of two jobs.
    sortBy(borrowers, pool -> pool.share().running() == 0 ? 0 : 1);
    return borrowers;
  }

  private static ArrayBuffer<TaskSetManager> collect(List<JobPool> pools) {
    if (pools.size() == 1) {
      return pools.get(0).taskSets();
    }
    ArrayBuffer<TaskSetManager> queue = new ArrayBuffer<>();
    for (JobPool pool : pools) {
      ScalaBuffers.appendAll(queue, pool.taskSets());
    }
    return queue;
  }

  private static boolean starts(JobPool pool) {
    return pool.runningTasks() == 0 || pool.runningTasks() < pool.minShare();
  }

  private static void sortFairly(List<JobPool> pools) {
    if (pools.size() > 1) {
      pools.sort((a, b) -> FAIR.comparator(a, b) ? -1 : FAIR.comparator(b, a) ? 1 : 0);
    }
  }

  private static void sortBy(List<JobPool> pools, ToDoubleFunction<JobPool> key) {
    if (pools.size() > 1) {
      pools.sort((a, b) -> Double.compare(key.applyAsDouble(a), key.applyAsDouble(b)));
    }
  }
}
