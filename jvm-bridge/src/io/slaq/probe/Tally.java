package io.slaq.probe;

import java.util.HashMap;
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

  private static final double[] NOTHING = new double[3];

  /** An executor's heartbeat serializes it while the task adds cells. */
  private final Map<Long, double[]> cells = new ConcurrentHashMap<>();

  /** Sums over the partitions of a step; on the driver, so that a report needs no pass over all partitions. */
  private final transient Map<Integer, double[]> totals = new HashMap<>();

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
    double[] total = totals.getOrDefault(step, NOTHING).clone();
    if (Double.isNaN(total[SUM])) {
      Health.failed("tasks", new IllegalStateException("a task could not count, or its training has diverged"));
    }
    return total;
  }

  synchronized void forget(int step) {
    cells.keySet().removeIf(key -> key >> 32 == step);
    totals.remove(step);
  }

  private static long key(int step, int partition) {
    return (long) step << 32 | partition;
  }

  /** Adds a partition's cell to its step, for the one it had before, if any. */
  private void put(long key, double[] cell) {
    double[] known = cells.put(key, cell);
    int step = (int) (key >> 32);
    if (known == null) {
      add(totals.computeIfAbsent(step, first -> new double[3]), cell);
      return;
    }
    // Computed again, which is rare: a difference of sums would not be the sum.
    double[] total = new double[3];
    cells.forEach((other, numbers) -> {
      if (other >> 32 == step) {
        add(total, numbers);
      }
    });
    totals.put(step, total);
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
          put(key, cell);
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
    if (totals != null) {
      totals.clear();
    }
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
