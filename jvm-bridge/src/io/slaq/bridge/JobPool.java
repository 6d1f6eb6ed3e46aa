package io.slaq.bridge;

import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.Schedulable;
import org.apache.spark.scheduler.TaskSetManager;
import scala.Enumeration;
import scala.collection.mutable.ArrayBuffer;

/**
 * The pool of one job in Spark's own scheduler, held to its {@link Share}.
 *
 * <p>Spark calls every method here under the scheduler's lock. What Spark's root pool gets from this pool is always
 * empty: {@link Round} collects all pools' task sets at once, because who may run depends on what the others leave.
 */
final class JobPool extends Pool {
  /** Spark filters and copies what it gets, so one empty buffer serves every pool. */
  private static final ArrayBuffer<TaskSetManager> NOTHING = new ArrayBuffer<>();

  private final Pools pools;
  private final Share share;
  private final JobUsage usage;
  /** Configured pools (and `default`) stay when they are empty; the pools of jobs go with the job. */
  private final boolean permanent;
  private int holders;
  /** Whether anybody has ever announced the job; else only the name on its stages is known. */
  private boolean opened;
  private long activeAt = System.nanoTime();
  private boolean borrowing;
  private boolean refused;
  private int pending;
  private boolean waits;
  private long waitingSince;
  private long executorsSeen;

  JobPool(Pools pools, String name, Enumeration.Value mode, int minShare, int weight, boolean permanent, Share share) {
    super(name, mode, minShare, weight);
    this.pools = pools;
    this.permanent = permanent;
    this.share = share;
    this.usage = new JobUsage(name);
    this.executorsSeen = pools.executorsSeen();
  }

  @Override
  public ArrayBuffer<TaskSetManager> getSortedTaskSetQueue() {
    return NOTHING;
  }

  /** The task sets in stock order. Task sets that sat out while executors came are told before they are offered. */
  ArrayBuffer<TaskSetManager> taskSets() {
    ArrayBuffer<TaskSetManager> queue = stockTaskSets();
    if (executorsSeen != pools.executorsSeen()) {
      executorsSeen = pools.executorsSeen();
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
      waits &= !borrowing;
      pools.started(this, tasks, borrowing);
    } catch (Throwable t) {
      Faults.record("task start", t);
    }
  }

  @Override
  public void decreaseRunningTasks(int tasks) {
    super.decreaseRunningTasks(tasks);
    try {
      pools.ended(this, tasks);
    } catch (Throwable t) {
      Faults.record("task end", t);
    }
  }

  @Override
  public void addSchedulable(Schedulable schedulable) {
    try {
      if (isEmpty()) {
        share.stageAfterPause(System.nanoTime());
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
      pools.retireIfUnused(this);
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
    pools.started(this, running, false);
  }

  /** Counts the tasks that could still be launched. */
  void observe(long now) {
    int launchable = 0;
    for (Schedulable schedulable : schedulableQueue()) {
      TaskSetManager taskSet = (TaskSetManager) schedulable;
      if (!taskSet.isZombie()) {
        launchable += Math.max(0, taskSet.numTasks() - taskSet.tasksSuccessful() - taskSet.runningTasks());
      }
    }
    pending = launchable;
    if (share.limited() || !pools.bounded(now)) {
      waits = false;
    } else if (!waits && launchable > 0 && share.running() == 0) {
      waits = true;
      waitingSince = now;
    }
  }

  /** Whether the total leaves this job nothing and no grant has come: until one does, or a slot is lent to it. */
  boolean waits() {
    return waits;
  }

  long waitingSince() {
    return waitingSince;
  }

  /** The gate's question for each single task; decides at the same time who pays for it. */
  boolean mayLaunch(TaskSetManager taskSet, long now) {
    if (pools.hasRoom(this, now)) {
      borrowing = false;
      return true;
    }
    // The tasks of a barrier stage start all at once or never: such a stage overdraws its bucket instead.
    borrowing = !taskSet.isBarrier();
    if (!borrowing || (share.mayBorrow() && pools.lends(now, share.taskNanos()))) {
      return true;
    }
    if (!refused) {
      refused = true;
      pools.refused(this, now);
    }
    return false;
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

  void setBorrowing(boolean value) {
    borrowing = value;
  }

  void setRefused(boolean value) {
    refused = value;
  }

  boolean refused() {
    return refused;
  }

  int pending() {
    return pending;
  }

  Share share() {
    return share;
  }

  JobUsage usage() {
    return usage;
  }
}
