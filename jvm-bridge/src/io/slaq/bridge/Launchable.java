package io.slaq.bridge;

import org.apache.spark.scheduler.TaskSetManager;
import scala.collection.mutable.HashSet;

/** How many tasks of a task set could be launched now, speculative copies included. */
final class Launchable {
  private Launchable() {}

  /**
   * Exact towards the end of a stage, where it matters. Before, the difference of three numbers will do: a task that has
   * ended is no longer running, but counts as done only when its result has been read.
   */
  static int count(TaskSetManager taskSet, int slots) {
    if (taskSet.isZombie()) {
      return 0;
    }
    int rest = taskSet.numTasks() - taskSet.tasksSuccessful() - taskSet.runningTasks();
    return rest > slots ? rest : exactly(taskSet);
  }

  private static int exactly(TaskSetManager taskSet) {
    int[] copies = taskSet.copiesRunning();
    boolean[] done = taskSet.successful();
    HashSet<Object> speculatable = taskSet.speculatableTasks();
    boolean speculates = !speculatable.isEmpty();
    int launchable = 0;
    for (int index = 0; index < copies.length; index++) {
      if (!done[index] && (copies[index] == 0 || (speculates && copies[index] == 1 && speculatable.contains(index)))) {
        launchable++;
      }
    }
    return launchable;
  }
}
