package io.slaq.bridge;

import io.slaq.probe.Events;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerExecutorAdded;
import org.apache.spark.scheduler.SparkListenerExecutorRemoved;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.scheduler.SparkListenerTaskEnd;
import org.apache.spark.scheduler.SparkListenerTaskStart;
import org.apache.spark.scheduler.TaskSetManager;

/** Attributes Spark's task events to jobs: stages are tied to a job when their task set enters its pool. */
final class Usages extends SparkListener {
  private static final long PATIENCE_NANOS = 10_000_000_000L;
  /** Closed pools kept until they are acknowledged; more than this means that nobody reads. */
  private static final int CLOSED_KEPT = 1000;

  private final Map<Long, Stage> stages = new ConcurrentHashMap<>();
  /** Of closed pools: Spark's events about their last tasks may still come. */
  private final ArrayDeque<JobUsage> closed = new ArrayDeque<>();
  /** Of closed pools whose numbers will not change any more, in the order of their seq. */
  private final ArrayDeque<JobUsage> ended = new ArrayDeque<>();
  private final Runnable executorsChanged;
  private final Runnable applicationEnded;

  Usages(Runnable executorsChanged, Runnable applicationEnded) {
    this.executorsChanged = executorsChanged;
    this.applicationEnded = applicationEnded;
  }

  /** Called under the scheduler's lock, before the stage's first task can start. */
  void stageAdded(TaskSetManager taskSet, JobUsage usage) {
    long key = key(taskSet.stageId(), taskSet.taskSet().stageAttemptId());
    Stage stage = new Stage(usage, taskSet.runningTasks());
    if (stages.put(key, stage) == null) {
      usage.stageAdded(taskSet.numTasks());
    }
  }

  void closed(JobUsage usage) {
    synchronized (ended) {
      closed.addLast(usage);
      trim(closed);
    }
  }

  /** Numbers the usages that have become final. */
  void settle(long now) {
    synchronized (ended) {
      for (Iterator<JobUsage> it = closed.iterator(); it.hasNext(); ) {
        JobUsage usage = it.next();
        if (usage.isFinal(now, PATIENCE_NANOS)) {
          it.remove();
          usage.setSeq(Events.number());
          ended.addLast(usage);
        }
      }
      trim(ended);
    }
  }

  /** The final usages that are numbered after {@code acked} and up to {@code complete}. */
  List<JobUsage> ended(long acked, long complete) {
    List<JobUsage> found = new ArrayList<>();
    synchronized (ended) {
      for (JobUsage usage : ended) {
        if (usage.seq() > acked && usage.seq() <= complete) {
          found.add(usage);
        }
      }
    }
    return found;
  }

  void acknowledge(long acked) {
    synchronized (ended) {
      while (!ended.isEmpty() && ended.peekFirst().seq() <= acked) {
        ended.removeFirst();
      }
    }
  }

  private static void trim(ArrayDeque<JobUsage> usages) {
    while (usages.size() > CLOSED_KEPT) {
      usages.removeFirst();
    }
  }

  int stagesTracked() {
    return stages.size();
  }

  @Override
  public void onTaskStart(SparkListenerTaskStart event) {
    guarded("task start event", () -> {
      Stage stage = stages.get(key(event.stageId(), event.stageAttemptId()));
      if (stage != null) {
        stage.running++;
      }
    });
  }

  @Override
  public void onTaskEnd(SparkListenerTaskEnd event) {
    guarded("task end event", () -> {
      long key = key(event.stageId(), event.stageAttemptId());
      Stage stage = stages.get(key);
      if (stage != null) {
        stage.running--;
        stage.usage.taskEnded(event.taskInfo().failed() || event.taskInfo().killed(), event.taskMetrics());
        drop(key, stage);
      }
    });
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    guarded("stage event", () -> {
      long key = key(event.stageInfo().stageId(), event.stageInfo().attemptNumber());
      Stage stage = stages.get(key);
      if (stage != null) {
        stage.completed = true;
        drop(key, stage);
      }
    });
  }

  @Override
  public void onExecutorAdded(SparkListenerExecutorAdded event) {
    guarded("executor event", executorsChanged);
  }

  @Override
  public void onExecutorRemoved(SparkListenerExecutorRemoved event) {
    guarded("executor event", executorsChanged);
  }

  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd event) {
    guarded("application event", applicationEnded);
  }

  /** An Error that leaves a listener, such as one of linking, makes Spark stop the context. */
  private static void guarded(String place, Runnable callback) {
    try {
      callback.run();
    } catch (Throwable t) {
      Faults.record(place, t);
    }
  }

  /** A completed stage can still hear of tasks that were cancelled or speculated. */
  private void drop(long key, Stage stage) {
    if (stage.completed && stage.running <= 0 && stages.remove(key, stage)) {
      stage.usage.stageGone();
    }
  }

  private static long key(int stageId, int attempt) {
    return ((long) stageId << 32) | attempt;
  }

  /** Written by the listener thread alone, after it was published through the map. */
  private static final class Stage {
    final JobUsage usage;
    int running;
    boolean completed;

    Stage(JobUsage usage, int running) {
      this.usage = usage;
      this.running = running;
    }
  }
}
