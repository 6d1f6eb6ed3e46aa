package io.slaq.bridge;

import java.util.Properties;
import org.apache.spark.SparkContext;

/**
 * A thread's stay in the pool of a job, and its way back to the pool it was in before.
 *
 * <p>Pools of jobs share a few names, so the job's id goes along with the stages. A thread that was born in a fit and
 * outlives it carries the id of a job that is over, and its stages go to the pool that the fit was started in.
 */
public final class Scope {
  static final String POOL = "spark.scheduler.pool";
  static final String JOB = "slaq.job";
  /** The pool of the thread before it entered any job. */
  static final String HOME = "slaq.home.pool";

  private final SparkContext sc;
  private final String job;
  private final Properties before;
  private final Properties during;

  /** PySpark shares one Properties object between the threads of a pool, so the change is made to a private copy. */
  Scope(SparkContext sc, String job, String pool) {
    this.sc = sc;
    this.job = job;
    before = sc.getLocalProperties();
    during = (Properties) before.clone();
    if (home(before) != null) {
      during.setProperty(HOME, home(before));
    }
    during.setProperty(POOL, pool);
    during.setProperty(JOB, job);
    sc.setLocalProperties(during);
  }

  /** The pool that a user gave the thread; null: the default one. */
  static String home(Properties properties) {
    return properties.getProperty(JOB) == null ? properties.getProperty(POOL) : properties.getProperty(HOME);
  }

  void restore() {
    if (sc.getLocalProperties() == during) {
      sc.setLocalProperties(before);
    }
  }

  String job() {
    return job;
  }
}
