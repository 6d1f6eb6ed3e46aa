package io.slaq.bridge;

import io.slaq.probe.Fit;
import io.slaq.probe.FitListener;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Gives every fit a pool of its own, from before its first Spark job until its end. */
final class FitPools implements FitListener {
  private final Bridge bridge;
  private final Map<String, Scope> open = new ConcurrentHashMap<>();

  /** Jobs of streaming models: their pools stay between two mini-batches. */
  private final Set<String> streams = ConcurrentHashMap.newKeySet();

  FitPools(Bridge bridge) {
    this.bridge = bridge;
  }

  @Override
  public void begun(Fit fit) {
    try {
      fit.setOuter(bridge.jobOfThread(), bridge.weightOfThread());
      tellSession(fit);
      fit.setRun(bridge.runOfThread());
      if (fit.stream() != null && streams.add(fit.job())) {
        bridge.openPool(fit.job());
      }
      open.put(fit.job(), bridge.enter(fit.job()));
    } catch (Throwable t) {
      Faults.record("fit begin", t);
    }
  }

  /** Apart, because a driver without Spark SQL has no sessions and its fits want their pools. */
  private void tellSession(Fit fit) {
    try {
      fit.setSession(bridge.sessionOfThread());
    } catch (Throwable t) {
      Faults.record("session", t);
    }
  }

  @Override
  public void ended(Fit fit, Throwable failure) {
    try {
      Scope scope = open.remove(fit.job());
      if (scope != null) {
        bridge.leave(scope);
      }
      if (!fit.isOpen() && streams.remove(fit.job())) {
        bridge.closePool(fit.job());
      }
    } catch (Throwable t) {
      Faults.record("fit end", t);
    }
  }
}
