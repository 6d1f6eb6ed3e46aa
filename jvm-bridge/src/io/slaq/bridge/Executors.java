package io.slaq.bridge;

import org.apache.spark.SparkContext;
import org.apache.spark.resource.ResourceProfile;

/**
 * How many executors dynamic allocation may want: no more than hold the application's total.
 *
 * <p>Spark counts every waiting task as a reason for more executors, also those that wait because the application may
 * use only so many cores. The total counts cores of the default resource profile; other profiles are left alone.
 */
public final class Executors {
  private static volatile Executors current;

  private final SparkContext sc;
  private volatile Total total = new Total(Double.NaN, 0);

  Executors(SparkContext sc) {
    this.sc = sc;
  }

  /** Called by the agent's hook in Spark's allocation manager with what Spark found; gives what it shall find. */
  public static int needed(int executors, int profile) {
    Executors here = current;
    return here == null ? executors : here.bounded(executors, profile, System.nanoTime());
  }

  void install() {
    current = this;
  }

  void uninstall() {
    current = null;
  }

  /** NaN: no total is in force. */
  void setTotal(double cores, long leaseEnds) {
    total = new Total(cores, leaseEnds);
  }

  private int bounded(int executors, int profile, long now) {
    Total held = total;
    ResourceProfile standard = sc.resourceProfileManager().defaultResourceProfile();
    if (Double.isNaN(held.cores) || now - held.leaseEnds >= 0 || profile != standard.id()) {
      return executors;
    }
    double cores = standard.maxTasksPerExecutor(sc.conf()) * sc.conf().getDouble("spark.task.cpus", 1.0);
    // One at least: a job that is granted its first core should find it there.
    return Math.min(executors, (int) Math.max(1, Math.ceil(held.cores / cores)));
  }

  private static final class Total {
    final double cores;
    final long leaseEnds;

    Total(double cores, long leaseEnds) {
      this.cores = cores;
      this.leaseEnds = leaseEnds;
    }
  }
}
