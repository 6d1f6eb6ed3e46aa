package io.slaq.probe;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.Set;
import java.util.WeakHashMap;
import org.apache.spark.JobArtifactSet;
import org.apache.spark.SparkContext;

/**
 * Brings this jar to executors in other processes, so that tasks may run code of ours.
 *
 * <p>Executors that load it at their start know our classes for good. A jar added later is known to tasks that carry it,
 * and since Spark 4 the tasks of a session's queries carry the jars of that session only: code of ours in the lineage of
 * a model would then fail the queries of its user.
 */
public final class TaskJar {
  /** What executors load before their first task. Spark itself sets it, to the application's own jars. */
  private static final String AT_START = "spark.app.initial.jar.urls";

  private static final String ISOLATION = "spark.sql.artifact.isolation.enabled";

  private static final Set<SparkContext> SENT_AT_START = Collections.newSetFromMap(new WeakHashMap<>());
  private static final Set<SparkContext> ADDED = Collections.newSetFromMap(new WeakHashMap<>());

  private TaskJar() {}

  /** For the plugin, while there are no executors: each of them will load this jar when it starts. */
  public static synchronized void sendAtStart(SparkContext context) throws Exception {
    File jar = jar();
    if (context.isLocal() || !Agent.installed() || !ExtraWork.allowed() || !jar.isFile()) {
      return;
    }
    // An executor that finds no jar does not start, so it is not the installed one, which may be updated any time.
    Path copy = Files.createTempFile("slaq-bridge-", ".jar");
    Files.copy(jar.toPath(), copy, StandardCopyOption.REPLACE_EXISTING);
    copy.toFile().deleteOnExit();
    String url = context.env().rpcEnv().fileServer().addJar(copy.toFile());
    String others = context.conf().get(AT_START, "");
    context.conf().set(AT_START, others.isEmpty() ? url : others + "," + url);
    SENT_AT_START.add(context);
  }

  /** Whether tasks may run our code now; {@code outlives}: also those that use the model when its fit is over. */
  static synchronized boolean reaches(SparkContext context, boolean outlives) throws Exception {
    if (context.isLocal()) {
      return true;
    }
    // On a Connect server, or inside a query: executors may keep the classes of this session apart from all others.
    if (JobArtifactSet.getCurrentJobArtifactState().isDefined()) {
      return false;
    }
    return SENT_AT_START.contains(context) || ((!outlives || queriesCarryJars(context)) && add(context));
  }

  private static boolean add(SparkContext context) throws Exception {
    if (!ADDED.contains(context) && jar().isFile()) {
      context.addJar(jar().getPath());
      ADDED.add(context);
    }
    return ADDED.contains(context);
  }

  /** PySpark turns the separation off, for its users' own files would suffer from it; Scala programs have it. */
  private static boolean queriesCarryJars(SparkContext context) {
    return context.version().startsWith("3.") || context.conf().get(ISOLATION, "true").equals("false");
  }

  private static File jar() throws Exception {
    return new File(TaskJar.class.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
