package io.slaq.probe;

import java.io.File;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rdd.RDD;

/**
 * Whether hooks may do work of their own: compute a loss on the driver, or put code into Spark's tasks, where some
 * losses can be summed beside what is being done anyway. For the latter, executors need this jar; Spark brings it to
 * them as it brings the jars of an application.
 */
final class ExtraWork {
  /** Configuration key, or JVM property of the driver: "false" leaves only losses that Spark itself has computed. */
  private static final String KEY = "spark.slaq.probe.extraPasses";

  private static final Set<SparkContext> SHIPPED = Collections.newSetFromMap(new WeakHashMap<>());

  private ExtraWork() {}

  /** This thread's job if a loss may be computed for it on the driver, or null. */
  static Fit onDriver() {
    Fit fit = Fits.current();
    return fit != null && allowed() ? fit : null;
  }

  /** This thread's job if its tasks may sum a loss, or null. */
  static Fit inTasks(SparkContext context) throws Exception {
    Fit fit = onDriver();
    return fit != null && (context.isLocal() || ship(context)) ? fit : null;
  }

  static Fit inTasks(RDD<?> data) throws Exception {
    return inTasks(data.sparkContext());
  }

  private static boolean allowed() {
    SparkEnv environment = SparkEnv.get();
    String fallback = System.getProperty(KEY, "true");
    return Boolean.parseBoolean(environment == null ? fallback : environment.conf().get(KEY, fallback));
  }

  private static synchronized boolean ship(SparkContext context) throws Exception {
    if (SHIPPED.contains(context)) {
      return true;
    }
    File jar = new File(ExtraWork.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    if (!jar.isFile()) {
      return false;
    }
    context.addJar(jar.getPath());
    return SHIPPED.add(context);
  }
}
