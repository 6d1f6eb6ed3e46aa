package io.slaq.probe;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;

/** What can be known of an estimator when its fit begins. */
final class Estimator {
  private static final Set<String> WRAPPERS = Set.of("Pipeline", "CrossValidator", "TrainValidationSplit", "OneVsRest");

  /** The old API has four words for one thing; the new one's word is used for all. */
  private static final Map<String, String> NAMES =
      Map.of(
          "numIterations", "maxIter",
          "maxIterations", "maxIter",
          "maxNumIterations", "maxIter",
          "iterations", "maxIter",
          "convergenceTol", "tol",
          "epsilon", "tol",
          "lambda", "regParam");

  static final Estimator UNKNOWN = new Estimator("unknown", null, "ml", Collections.emptyMap());

  final String name;
  final String uid;
  final String api;
  final boolean wrapper;
  final Map<String, Object> params;
  final String convergence;

  private Estimator(String name, String uid, String api, Map<String, Object> params) {
    this.name = name;
    this.uid = uid;
    this.api = api;
    this.wrapper = WRAPPERS.contains(name);
    this.params = params;
    this.convergence = Convergence.of(name, params);
  }

  /**
   * The estimator that a lambda given to Instrumentation.instrumented has captured. It is read from the lambda, not from
   * Instrumentation.logPipelineStage, because some estimators run Spark jobs before they call that.
   */
  static Estimator ofBody(Object body) throws IllegalAccessException {
    for (Field field : body.getClass().getDeclaredFields()) {
      field.setAccessible(true);
      Object captured = Modifier.isStatic(field.getModifiers()) ? null : field.get(body);
      if (captured instanceof Params) {
        return of((Params) captured);
      }
    }
    return UNKNOWN;
  }

  private static Estimator of(Params stage) {
    Map<String, Object> params = new LinkedHashMap<>();
    for (Param<?> param : stage.params()) {
      if (stage.isDefined(param)) {
        put(params, param.name(), stage.getOrDefault(param));
      }
    }
    return new Estimator(stage.getClass().getSimpleName(), stage.uid(), "ml", params);
  }

  /** An algorithm of the old API keeps its parameters in private fields, some of them in its optimizer's. */
  static Estimator ofMllib(Object algorithm) throws IllegalAccessException {
    Map<String, Object> params = new LinkedHashMap<>();
    collect(algorithm, params, true);
    return new Estimator(algorithm.getClass().getSimpleName(), null, "mllib", params);
  }

  private static void collect(Object owner, Map<String, Object> params, boolean deeper) throws IllegalAccessException {
    Map<String, Object> own = new LinkedHashMap<>();
    for (Class<?> type = owner.getClass(); type != null && ours(type); type = type.getSuperclass()) {
      for (Field field : type.getDeclaredFields()) {
        if (Modifier.isStatic(field.getModifiers()) || field.getName().indexOf('$') >= 0) {
          continue;
        }
        field.setAccessible(true);
        Object value = field.get(owner);
        put(own, NAMES.getOrDefault(field.getName(), field.getName()), value);
        if (deeper && value != null && ours(value.getClass()) && settings(field.getName())) {
          collect(value, params, false);
        }
      }
    }
    // The optimizer's settings come first: those of the algorithm may be defaults that were overridden there.
    own.forEach(params::putIfAbsent);
  }

  private static boolean ours(Class<?> type) {
    return type.getName().startsWith("org.apache.spark.mllib.");
  }

  private static boolean settings(String field) {
    return field.equals("optimizer") || field.equals("boostingStrategy") || field.equals("ldaOptimizer");
  }

  private static void put(Map<String, Object> params, String name, Object value) {
    if (value instanceof Number || value instanceof String || value instanceof Boolean) {
      params.putIfAbsent(name, value);
    }
  }
}
