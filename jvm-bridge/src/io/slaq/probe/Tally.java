package io.slaq.probe;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.TaskContext;
import org.apache.spark.util.AccumulatorV2;

/**
 * Sums by step and partition, carried from tasks to the driver by Spark itself. Because each partition has its own
 * cell, a partition that is computed again (retry, speculation, lost cache) replaces its numbers and adds none.
 */
final class Tally extends AccumulatorV2<Long, Map<Long, double[]>> {
  private static final long serialVersionUID = 1L;

  /** Sum of the quantity; a second sum; how many records are in them. */
  static final int SUM = 0;
  static final int OTHER = 1;
  static final int COUNT = 2;

  /** An executor's heartbeat serializes it while the task adds cells. */
  private final Map<Long, double[]> cells = new ConcurrentHashMap<>();

  /** Told on the driver after each merge; stays there. */
  private final transient Runnable merged;

  Tally(Runnable merged) {
    this.merged = merged;
  }

  /** In a task: the numbers of the partition being computed, to be added to in place. */
  double[] cell(int step) {
    return cells.computeIfAbsent(key(step, TaskContext.getPartitionId()), key -> new double[3]);
  }

  /** In a task: counting failed. The task must not notice; the driver will, for the sum is no number any more. */
  void spoil(int step) {
    cell(step)[SUM] = Double.NaN;
  }

  /** On the driver: the numbers of a step over all its partitions so far. */
  synchronized double[] total(int step) {
    double[] total = new double[3];
    cells.forEach((key, cell) -> {
      if (key >> 32 == step) {
        add(total, cell);
      }
    });
    if (Double.isNaN(total[SUM])) {
      Health.failed("tasks", new IllegalStateException("a task could not count, or its training has diverged"));
    }
    return total;
  }

  synchronized void forget(int step) {
    cells.keySet().removeIf(key -> key >> 32 == step);
  }

  private static long key(int step, int partition) {
    return (long) step << 32 | partition;
  }

  private static void add(double[] total, double[] cell) {
    for (int i = 0; i < total.length; i++) {
      total[i] += cell[i];
    }
  }

  @Override
  public void merge(AccumulatorV2<Long, Map<Long, double[]>> other) {
    synchronized (this) {
      ((Tally) other).cells.forEach((key, cell) -> {
        double[] known = cells.get(key);
        // Of a partition that was computed in part (a `take`), the fuller count is the right one.
        if (known == null || cell[COUNT] >= known[COUNT]) {
          cells.put(key, cell);
        }
      });
    }
    // Outside the lock: the owner of this tally locks itself first and reads it then.
    if (merged != null) {
      try {
        merged.run();
      } catch (Throwable t) {
        Health.failed("tally", t);
      }
    }
  }

  @Override
  public synchronized boolean isZero() {
    return cells.isEmpty();
  }

  @Override
  public synchronized AccumulatorV2<Long, Map<Long, double[]>> copy() {
    Tally copy = new Tally(merged);
    copy.cells.putAll(cells);
    return copy;
  }

  @Override
  public synchronized void reset() {
    cells.clear();
  }

  @Override
  public void add(Long step) {
    cell(step.intValue())[COUNT]++;
  }

  @Override
  public Map<Long, double[]> value() {
    return cells;
  }
}
