package io.slaq.bridge;

import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.Schedulable;
import org.apache.spark.scheduler.TaskSetManager;
import scala.Enumeration;
import scala.collection.mutable.ArrayBuffer;

/**
 * The pool of one job in Spark's own scheduler; what it may start is in its {@link Claim}.
 *
 * <p>Spark calls every method here under the scheduler's lock. What Spark's root pool gets from this pool is always
 * empty: {@link Round} collects all pools' task sets at once, because who may run depends on what the others leave.
 */
final class JobPool extends Pool {
  /** Spark filters and copies what it gets, so one empty buffer serves every pool. */
  private static final ArrayBuffer<TaskSetManager> NOTHING = new ArrayBuffer<>();

  private final Pools pools;
  final String job;
  final Claim claim;
  private final JobUsage usage;
  /** Configured pools (and `default`) stay when they are empty; the pools of jobs go with the job. */
  final boolean permanent;
  private int holders;
  /** Whether anybody has ever announced the job; else only the name on its stages is known. */
  private boolean opened;
  private long activeAt = System.nanoTime();
  private long executorsSeen;

  JobPool(Pools pools, String job, String name, Enumeration.Value mode, boolean permanent, int minShare, int weight,
      Claim claim) {
    super(name, mode, minShare, weight);
    this.pools = pools;
    this.job = job;
    this.permanent = permanent;
    this.claim = claim;
    this.usage = new JobUsage(job);
    this.executorsSeen = pools.executorsSeen;
  }

  @Override
  public ArrayBuffer<TaskSetManager> getSortedTaskSetQueue() {
    return NOTHING;
  }

  /** The task sets in stock order. Task sets that sat out while executors came are told before they are offered. */
  ArrayBuffer<TaskSetManager> taskSets() {
    ArrayBuffer<TaskSetManager> queue = stockTaskSets();
    if (executorsSeen != pools.executorsSeen) {
      executorsSeen = pools.executorsSeen;
      for (int i = 0; i < queue.length(); i++) {
        queue.apply(i).executorAdded();
      }
    }
    return queue;
  }

  ArrayBuffer<TaskSetManager> stockTaskSets() {
    return super.getSortedTaskSetQueue();
  }

  @Override
  public void increaseRunningTasks(int tasks) {
    super.increaseRunningTasks(tasks);
    try {
      pools.quotas.started(System.nanoTime(), claim, tasks);
    } catch (Throwable t) {
      Faults.record("task start", t);
    }
  }

  @Override
  public void decreaseRunningTasks(int tasks) {
    super.decreaseRunningTasks(tasks);
    try {
      long now = System.nanoTime();
      pools.quotas.ended(now, claim, tasks);
      pools.retireIfUnused(this, now);
    } catch (Throwable t) {
      Faults.record("task end", t);
    }
  }

  @Override
  public void addSchedulable(Schedulable schedulable) {
    try {
      if (isEmpty()) {
        claim.share.stageAfterRest(System.nanoTime());
      }
    } catch (Throwable t) {
      Faults.record("stage start", t);
    }
    super.addSchedulable(schedulable);
  }

  @Override
  public void removeSchedulable(Schedulable schedulable) {
    super.removeSchedulable(schedulable);
    try {
      activeAt = System.nanoTime();
      pools.retireIfUnused(this, activeAt);
    } catch (Throwable t) {
      Faults.record("pool removal", t);
    }
  }

  /** Takes over a task set, with its running tasks, from the pool it was in. */
  void adopt(TaskSetManager taskSet) {
    int running = taskSet.runningTasks();
    taskSet.parent().removeSchedulable(taskSet);
    addSchedulable(taskSet);
    runningTasks_$eq(runningTasks() + running);
    pools.quotas.started(System.nanoTime(), claim, running);
  }

  /** A new round of offers. The tasks of a barrier stage that is next start all at once or never. */
  Claim observe(long now, boolean bounded) {
    int wanted = 0;
    int unit = 1;
    for (Schedulable schedulable : schedulableQueue()) {
      TaskSetManager taskSet = (TaskSetManager) schedulable;
      int launchable = Launchable.count(taskSet, pools.quotas.slots);
      unit = launchable > 0 && wanted == 0 && taskSet.isBarrier() ? launchable : unit;
      wanted += launchable;
    }
    claim.begin(wanted, unit);
    claim.observe(now, bounded);
    return claim;
  }

  /** How many tasks could be launched if nothing held them. */
  int launchable() {
    int sum = 0;
    for (Schedulable schedulable : schedulableQueue()) {
      sum += Launchable.count((TaskSetManager) schedulable, pools.quotas.slots);
    }
    return sum;
  }

  /** The gate's question, for each task and executor. */
  boolean mayLaunch() {
    return pools.quotas.mayLaunch(claim);
  }

  boolean isEmpty() {
    return schedulableQueue().isEmpty();
  }

  /** Nobody tells when a job ends that nobody announced; its pool lingers, for its next stage may come any moment. */
  boolean unused(long now) {
    boolean idle = !permanent && holders <= 0 && runningTasks() == 0 && isEmpty();
    return idle && (opened || now - activeAt >= Pools.LINGER_NANOS);
  }

  void hold() {
    opened = true;
    holders++;
  }

  void unhold() {
    holders--;
  }

  Share share() {
    return claim.share;
  }

  JobUsage usage() {
    return usage;
  }
}
