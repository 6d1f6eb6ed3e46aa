package io.slaq.probe;

import org.apache.spark.SparkEnv;
import org.apache.spark.rdd.RDD;

/**
 * Whether hooks may do work of their own: compute a loss on the driver, or put code into Spark's tasks, where some
 * losses can be summed beside what is being done anyway. For the latter, executors need this jar (see {@link TaskJar}).
 */
final class ExtraWork {
  /** Configuration key, or JVM property of the driver: "false" leaves only losses that Spark itself has computed. */
  private static final String KEY = "spark.slaq.probe.extraPasses";

  private ExtraWork() {}

  /** This thread's job if a loss may be computed for it on the driver, or null. */
  static Fit onDriver() {
    Fit fit = Fits.current();
    return fit != null && allowed() ? fit : null;
  }

  /** This thread's job if its tasks may sum a loss, or null. */
  static Fit inTasks(RDD<?> data) throws Exception {
    return reaching(data, false);
  }

  /** The same where the model keeps the summing code in its lineage, to be run whenever the model is used. */
  static Fit inModel(RDD<?> data) throws Exception {
    return reaching(data, true);
  }

  static boolean allowed() {
    SparkEnv environment = SparkEnv.get();
    String fallback = System.getProperty(KEY, "true");
    return Boolean.parseBoolean(environment == null ? fallback : environment.conf().get(KEY, fallback));
  }

  private static Fit reaching(RDD<?> data, boolean outlives) throws Exception {
    Fit fit = onDriver();
    return fit != null && TaskJar.reaches(data.sparkContext(), outlives) ? fit : null;
  }
}
