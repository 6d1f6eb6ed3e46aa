package io.slaq.probe;

import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The loops of MLlib that can be ended early, each with the hooks it takes.
 *
 * <p>An estimator is stopped in its own loop only: the k-means that ends power iteration clustering, or the optimizer
 * inside a step of iteratively reweighted least squares, runs to its end.
 */
enum Loop {
  BREEZE("stop breeze"),
  GRADIENT_DESCENT("stop sgd"),
  KMEANS("stop kmeans row", "stop kmeans block"),
  BISECTING("stop bisecting kmeans"),
  MIXTURE("stop gaussian mixture ml", "stop gaussian mixture mllib"),
  REWEIGHTING("stop irls"),
  TOPICS("stop lda"),
  TREES("stop boosting"),
  POWER_ITERATION("stop power iteration"),
  FACTORS("stop als"),
  WORDS("stop word2vec");

  private static final Set<String> IN_BREEZE =
      Set.of(
          "LogisticRegression", "LinearRegression", "LinearSVC", "MultilayerPerceptronClassifier",
          "AFTSurvivalRegression", "LogisticRegressionWithLBFGS", "LBFGS");
  private static final Set<String> IN_GRADIENT_DESCENT =
      Set.of(
          "SVMWithSGD", "LogisticRegressionWithSGD", "LinearRegressionWithSGD", "RidgeRegressionWithSGD",
          "LassoWithSGD", "GradientDescent", "FMClassifier", "FMRegressor");
  private static final Map<String, Loop> OTHERS =
      Map.of(
          "KMeans", KMEANS,
          "BisectingKMeans", BISECTING,
          "GaussianMixture", MIXTURE,
          "GeneralizedLinearRegression", REWEIGHTING,
          "LDA", TOPICS,
          "GBTClassifier", TREES,
          "GBTRegressor", TREES,
          "GradientBoostedTrees", TREES,
          "PowerIterationClustering", POWER_ITERATION,
          "Word2Vec", WORDS);

  private final List<String> hooks;

  Loop(String... hooks) {
    this.hooks = List.of(hooks);
  }

  /** The name of this loop's hook, or of its n-th. */
  String hook(int nth) {
    return hooks.get(nth);
  }

  /** The loop that an estimator trains in, or null where none can be ended early. */
  static Loop of(String estimator, Map<String, Object> params) {
    if (estimator.equals("ALS")) {
      return Boolean.TRUE.equals(params.get("implicitPrefs")) ? FACTORS : null;
    }
    if (IN_GRADIENT_DESCENT.contains(estimator) || "gd".equals(params.get("solver"))) {
      return GRADIENT_DESCENT;
    }
    if (IN_BREEZE.contains(estimator)) {
      return "normal".equals(params.get("solver")) ? null : BREEZE;
    }
    return OTHERS.get(estimator);
  }

  /** Why an estimator cannot be ended early, as the end of a sentence; null: it can. */
  static String obstacle(String estimator, Map<String, Object> params) {
    Loop loop = of(estimator, params);
    if (loop == null) {
      return estimator.equals("ALS")
          ? "explicit ALS runs all its iterations in one Spark job"
          : estimator + " does not train in iterations that can be ended one by one";
    }
    for (String hook : loop.hooks) {
      if (!Health.isApplied(hook)) {
        return "SLAQ does not know the " + estimator + " of this version of Spark";
      }
    }
    return null;
  }
}
