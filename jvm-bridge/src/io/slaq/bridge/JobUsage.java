package io.slaq.bridge;

import io.slaq.probe.Json;
import org.apache.spark.executor.TaskMetrics;

/** What the tasks of one job have used so far; written by Spark's listener thread, read by whoever polls. */
final class JobUsage {
  /** The widest of the last few stages bounds the cores a job can use; one iteration is seldom longer. */
  private static final int STAGES_REMEMBERED = 8;

  private final String job;
  private final int[] widths = new int[STAGES_REMEMBERED];
  private int stages;
  private int openStages;
  private long tasks;
  private long failedTasks;
  private long cpuNanos;
  private long runMillis;
  private long records;
  private long bytes;
  private long taskBytes;
  private double heldSeconds;
  private double borrowedSeconds;
  private double pausedSeconds;
  private long closedAt;
  private boolean closed;
  private long seq;
  private String user;

  JobUsage(String job) {
    this.job = job;
  }

  synchronized void stageAdded(int numTasks) {
    widths[stages++ % STAGES_REMEMBERED] = numTasks;
    openStages++;
  }

  synchronized void stageGone() {
    openStages--;
  }

  synchronized void taskEnded(boolean failed, TaskMetrics metrics) {
    tasks++;
    if (failed) {
      failedTasks++;
    }
    if (metrics != null) {
      cpuNanos += metrics.executorCpuTime() + metrics.executorDeserializeCpuTime();
      runMillis += metrics.executorRunTime();
      records += metrics.inputMetrics().recordsRead() + metrics.shuffleReadMetrics().recordsRead();
      bytes += metrics.inputMetrics().bytesRead() + metrics.shuffleReadMetrics().totalBytesRead();
      taskBytes = Math.max(taskBytes, metrics.inputMetrics().bytesRead());
    }
  }

  /** The pool is gone; its last numbers are kept here until they are read. */
  synchronized void close(long now, double held, double borrowed, double paused) {
    closed = true;
    closedAt = now;
    heldSeconds = held;
    borrowedSeconds = borrowed;
    pausedSeconds = paused;
  }

  /** Spark's events lag behind its scheduler: a closed job is final when its last stage has been heard of. */
  synchronized boolean isFinal(long now, long patienceNanos) {
    return closed && (openStages <= 0 || now - closedAt > patienceNanos);
  }

  /** Set once, when the numbers are final. */
  synchronized void setSeq(long number) {
    seq = number;
  }

  synchronized long seq() {
    return seq;
  }

  /** Whose pool it is, where one driver serves several users; false if it has been somebody's or has been used. */
  synchronized boolean setUser(String owner) {
    if (user != null || stages > 0) {
      return false;
    }
    user = owner;
    return true;
  }

  String job() {
    return job;
  }

  synchronized void write(Json json) {
    int width = 0;
    for (int candidate : widths) {
      width = Math.max(width, candidate);
    }
    if (user != null) {
      json.field("user", user);
    }
    json.field("partitions", width).field("stages", stages);
    json.field("tasks", tasks).field("failed_tasks", failedTasks);
    json.field("cpu_s", cpuNanos * 1e-9).field("run_s", runMillis * 1e-3);
    json.field("records", records).field("bytes", bytes).field("task_bytes", taskBytes);
    if (closed) {
      json.field("held_s", heldSeconds).field("borrowed_s", borrowedSeconds);
      json.field("paused_s", pausedSeconds).field("ended", true).field("seq", seq);
    }
  }
}
