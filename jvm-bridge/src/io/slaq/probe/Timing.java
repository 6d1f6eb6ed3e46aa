package io.slaq.probe;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/** What the probe costs where no Spark work is added, measured inside the JVM for `slaq bench probe`. */
public final class Timing {
  private Timing() {}

  /** Mean time of one reported loss, from the hook's call to the event in the ring, within a fit of this thread. */
  public static double nanosPerLoss(int times) {
    Fits.enterMllib(new Object());
    try {
      long start = System.nanoTime();
      for (int i = 0; i < times; i++) {
        Losses.objective(1.0 / (i + 1));
      }
      return (System.nanoTime() - start) / (double) times;
    } finally {
      Fits.exit();
    }
  }

  /** Mean time to open and close the scope of a fit. */
  public static double nanosPerFit(int times) {
    long start = System.nanoTime();
    for (int i = 0; i < times; i++) {
      Fits.enterMllib(new Object());
      Fits.exit();
    }
    return (System.nanoTime() - start) / (double) times;
  }

  /** CPU time of this JVM so far: driver and, in local mode, tasks. */
  public static double cpuSeconds() {
    return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime() / 1e9;
  }
}
