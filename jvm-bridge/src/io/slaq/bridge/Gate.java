package io.slaq.bridge;

import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.TaskSetManager;

/**
 * The question at the head of {@code TaskSetManager.resourceOffer}, put there by the agent: may one more task start?
 *
 * <p>Without the gate a pool can only be shut or open for a whole round of offers, and one round may start a task on
 * every free slot. It runs under the scheduler's lock for every offer: cheap, and it never throws.
 */
public final class Gate {
  private static volatile boolean active;

  private Gate() {}

  public static boolean mayLaunch(Object taskSetManager) {
    try {
      if (!active) {
        active = true;
      }
      Pool pool = ((TaskSetManager) taskSetManager).parent();
      return !(pool instanceof JobPool) || ((JobPool) pool).mayLaunch();
    } catch (Throwable t) {
      Faults.record("gate", t);
      return true;
    }
  }

  /** Whether the agent's hook has been seen at work. */
  static boolean active() {
    return active;
  }
}
