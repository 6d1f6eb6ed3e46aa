package io.slaq.probe;

import java.util.ArrayList;
import java.util.List;

/** Where a fit begins and ends: once for all of ml, one by one for the entry points of the old mllib. */
final class ScopeHooks {
  private static final String INSTRUMENTATION = "org/apache/spark/ml/util/Instrumentation$";
  private static final String MLLIB = "org/apache/spark/mllib/";
  private static final String RDD = "(Lorg/apache/spark/rdd/RDD;";

  private ScopeHooks() {}

  static List<Hook> all() {
    List<Hook> hooks = new ArrayList<>();
    hooks.add(
        new Hook("ml fit", INSTRUMENTATION, 1, method ->
            method.name.equals("instrumented") ? Code.scope(method, INSTRUMENTATION, "enterMl", 1) : 0));
    hooks.add(mllib("regression/GeneralizedLinearAlgorithm", "run", RDD + "Lorg/apache/spark/mllib/linalg/Vector;)"));
    hooks.add(mllib("optimization/GradientDescent", "optimizeWithLossReturned", RDD));
    hooks.add(mllib("optimization/LBFGS", "optimizeWithLossReturned", RDD));
    hooks.add(mllib("clustering/KMeans", "runWithWeight", RDD));
    hooks.add(mllib("clustering/BisectingKMeans", "runWithWeight", RDD));
    hooks.add(mllib("clustering/GaussianMixture", "run", RDD));
    hooks.add(mllib("clustering/LDA", "run", RDD));
    hooks.add(mllib("clustering/PowerIterationClustering", "run", RDD));
    hooks.add(mllib("clustering/PowerIterationClustering", "run", "(Lorg/apache/spark/graphx/Graph;"));
    hooks.add(mllib("clustering/StreamingKMeansModel", "update", RDD));
    hooks.add(mllib("recommendation/ALS", "run", RDD));
    hooks.add(mllib("tree/GradientBoostedTrees", "run", RDD));
    hooks.add(mllib("tree/GradientBoostedTrees", "runWithValidation", RDD));
    hooks.add(mllib("tree/RandomForest", "run", RDD));
    hooks.add(mllib("regression/IsotonicRegression", "run", RDD));
    hooks.add(mllib("feature/Word2Vec", "fit", RDD));
    return hooks;
  }

  private static Hook mllib(String type, String name, String descriptor) {
    String target = MLLIB + type;
    return new Hook("mllib fit " + type + "." + name, target, 1, method ->
        method.name.equals(name) && method.desc.startsWith(descriptor)
            ? Code.scope(method, target, "enterMllib", 0)
            : 0);
  }
}
