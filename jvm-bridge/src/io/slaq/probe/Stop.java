package io.slaq.probe;

import java.util.Map;

/** Whether, when and why one fit is to end early. Asked for from any thread, honoured in the thread of the fit. */
final class Stop {
  private static final int NEVER = Integer.MAX_VALUE;

  private final Loop loop;
  private volatile String obstacle;
  private volatile int after = NEVER;
  private volatile String why = "";
  private volatile boolean honoured;

  Stop(String estimator, Map<String, Object> params) {
    loop = Loop.of(estimator, params);
    obstacle = Loop.obstacle(estimator, params);
  }

  /** Why the fit cannot be ended early, or null. */
  String obstacle() {
    return obstacle;
  }

  /** Every later mini-batch of a streaming model is the same job: a stop would cut all of them short. */
  void streams() {
    obstacle = "it trains a streaming model, whose next batch goes on with it";
  }

  /** False if it was asked for already, to come no later. */
  synchronized boolean ask(int afterIterations, String reason) {
    if (afterIterations >= after) {
      return false;
    }
    after = afterIterations;
    why = reason;
    return true;
  }

  boolean ending() {
    return after == 0;
  }

  String why() {
    return why;
  }

  /** Whether to end now, with so many iterations done; a fit has no model before its first. */
  boolean due(Loop asking, int done) {
    return asking == loop && obstacle == null && done >= Math.max(after, 1);
  }

  /** True the first time. */
  boolean honour() {
    boolean first = !honoured;
    honoured = true;
    return first;
  }

  boolean honoured() {
    return honoured;
  }
}
