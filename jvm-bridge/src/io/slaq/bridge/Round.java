package io.slaq.bridge;

import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.SchedulingMode;
import org.apache.spark.scheduler.TaskSetManager;
import scala.collection.mutable.ArrayBuffer;

/**
 * One more child of Spark's root pool, without task sets of its own: it answers for all job pools at every offer.
 *
 * <p>The job pools stay direct children of the root, so that Spark's page of pools, its look-up by name and its
 * bookkeeping see what they always saw.
 */
final class Round extends Pool {
  /** No name that a user would give a pool. */
  static final String NAME = "(slaq)";

  private final Pools pools;

  Round(Pools pools) {
    super(NAME, SchedulingMode.FAIR(), 0, 1);
    this.pools = pools;
  }

  @Override
  public ArrayBuffer<TaskSetManager> getSortedTaskSetQueue() {
    try {
      return pools.order(System.nanoTime());
    } catch (Throwable t) {
      Faults.record("offer", t);
      return pools.everything();
    }
  }
}
