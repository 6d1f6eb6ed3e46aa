package io.slaq.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkContext$;
import scala.Option;

/**
 * The jobs of streaming models. Each mini-batch of an output operation trains the same model a little further: all of them
 * are one job, which is over when no batch has come for a while.
 */
final class Streams {
  /** Set by Spark Streaming in the thread that runs a mini-batch. */
  private static final String OPERATION = "spark.streaming.internal.outputOpId";
  private static final long SILENCE_NANOS = 300_000_000_000L;

  private static final Map<String, Fit> OPEN = new ConcurrentHashMap<>();

  private Streams() {}

  /** The job to go on with, or null: this thread runs no mini-batch, or the first one. */
  static Fit resumed(Estimator estimator) {
    String key = key(estimator);
    return key == null ? null : OPEN.get(key);
  }

  /** Remembers the job of a first mini-batch. */
  static void begun(Fit fit, Estimator estimator) {
    String key = key(estimator);
    if (key != null) {
      fit.stream(key);
      fit.stop().streams();
      OPEN.put(key, fit);
    }
  }

  static void ended(Fit fit) {
    OPEN.values().remove(fit);
  }

  /** The jobs that have had no mini-batch for a while. */
  static Iterable<Fit> silent() {
    List<Fit> silent = new ArrayList<>();
    for (Fit fit : OPEN.values()) {
      if (fit.silentNanos() > SILENCE_NANOS && OPEN.remove(fit.stream(), fit)) {
        silent.add(fit);
      }
    }
    return silent;
  }

  private static String key(Estimator estimator) {
    Option<SparkContext> context = SparkContext$.MODULE$.getActive();
    String operation = context.isEmpty() ? null : context.get().getLocalProperty(OPERATION);
    return operation == null ? null : operation + " " + estimator.name;
  }
}
