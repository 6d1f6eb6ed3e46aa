package io.slaq.probe;

import java.util.ArrayList;
import java.util.List;

/** Every place in Spark that the probe rewrites. */
final class Hooks {
  private static final List<Class<?>> BODIES =
      List.of(
          Fits.class, Losses.class, Clusters.class, LeastSquares.class, TopicBatch.class, Als.class, Boosting.class,
          TopicPosterior.class, SkipGram.class, GateHook.class, AllocationHook.class, Stops.class, Loop.class);

  private Hooks() {}

  /**
   * Initialise every class that rewritten code will call: an error in there would pass the hooks' own handlers, so it
   * must show before anything is rewritten.
   */
  static void ready() throws ClassNotFoundException {
    for (Class<?> body : BODIES) {
      Class.forName(body.getName(), true, Hooks.class.getClassLoader());
    }
  }

  static List<Hook> all() {
    List<Hook> hooks = new ArrayList<>();
    hooks.addAll(ScopeHooks.all());
    hooks.addAll(ValueHooks.all());
    hooks.addAll(TaskHooks.all());
    hooks.addAll(StopHooks.all());
    hooks.add(GateHook.hook());
    hooks.add(AllocationHook.hook());
    return hooks;
  }
}
