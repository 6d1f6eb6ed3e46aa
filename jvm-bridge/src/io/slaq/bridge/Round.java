package io.slaq.bridge;

import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.TaskSetManager;
import scala.Enumeration;
import scala.collection.mutable.ArrayBuffer;

/**
 * One more child of Spark's root pool, without task sets of its own: it answers for all job pools at every offer.
 *
 * <p>The job pools stay direct children of the root, so that Spark's page of pools, its look-up by name and its
 * bookkeeping see what they always saw.
 */
final class Round extends Pool {
  static final String NAME = "slaq";

  private final Pools pools;

  Round(Pools pools, Enumeration.Value mode) {
    super(NAME, mode, 0, 1);
    this.pools = pools;
  }

  @Override
  public ArrayBuffer<TaskSetManager> getSortedTaskSetQueue() {
    try {
      return pools.order(System.nanoTime());
    } catch (Throwable t) {
      Faults.record("offer", t);
      return pools.stockOrder();
    }
  }
}
