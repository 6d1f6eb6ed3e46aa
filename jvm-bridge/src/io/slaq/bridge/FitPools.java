package io.slaq.bridge;

import io.slaq.probe.Fit;
import io.slaq.probe.FitListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Gives every fit a pool of its own, named after its job, from before its first Spark job until its end. */
final class FitPools implements FitListener {
  private final Bridge bridge;
  private final Map<String, Bridge.Scope> open = new ConcurrentHashMap<>();

  FitPools(Bridge bridge) {
    this.bridge = bridge;
  }

  @Override
  public void begun(Fit fit) {
    try {
      fit.setOuterPool(bridge.poolOfThread());
      open.put(fit.job(), bridge.enter(fit.job()));
    } catch (Throwable t) {
      Faults.record("fit begin", t);
    }
  }

  @Override
  public void ended(Fit fit, Throwable failure) {
    try {
      Bridge.Scope scope = open.remove(fit.job());
      if (scope != null) {
        bridge.leave(scope);
      }
    } catch (Throwable t) {
      Faults.record("fit end", t);
    }
  }
}
