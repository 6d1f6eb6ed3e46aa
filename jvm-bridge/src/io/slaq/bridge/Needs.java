package io.slaq.bridge;

import io.slaq.probe.Contract;
import java.util.Arrays;
import java.util.List;

/** Whether this Spark has what the bridge needs: asked before any of the code that needs it is touched. */
public final class Needs {
  private static final List<String> ROOTS =
      Arrays.asList("io/slaq/bridge/Bridge", "io/slaq/bridge/Gate", "io/slaq/bridge/Executors", "io/slaq/sidecar/Sidecar");

  private Needs() {}

  /** What is missing, by name; empty: the bridge can be installed. */
  public static List<String> missing() {
    return Contract.missing(ROOTS);
  }
}
