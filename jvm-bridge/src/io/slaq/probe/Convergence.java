package io.slaq.probe;

import java.util.Map;
import java.util.Set;

/** How fast an estimator's loss is known to fall (SLAQ §4.2), a hint for whoever fits a curve to it. */
final class Convergence {
  private static final Set<String> LINEAR =
      Set.of(
          "LogisticRegression", "LinearRegression", "LinearSVC", "MultilayerPerceptronClassifier",
          "AFTSurvivalRegression", "LogisticRegressionWithLBFGS", "LBFGS", "KMeans", "BisectingKMeans",
          "GaussianMixture", "ALS", "PowerIterationClustering");
  private static final Set<String> GRADIENT_STEPS =
      Set.of(
          "SVMWithSGD", "LogisticRegressionWithSGD", "LinearRegressionWithSGD", "RidgeRegressionWithSGD",
          "LassoWithSGD", "GradientDescent", "FMClassifier", "FMRegressor");
  private static final Set<String> BOOSTING = Set.of("GBTClassifier", "GBTRegressor", "GradientBoostedTrees");

  private Convergence() {}

  static String of(String estimator, Map<String, Object> params) {
    boolean gradientSteps = GRADIENT_STEPS.contains(estimator) || "gd".equals(params.get("solver"));
    if (gradientSteps) {
      Object fraction = params.get("miniBatchFraction");
      return fraction instanceof Number && ((Number) fraction).doubleValue() < 1.0 ? "noisy" : "sublinear";
    }
    if (estimator.equals("LDA")) {
      // The old API keeps its optimizer as an object: only the online one has a fraction.
      boolean online = params.containsKey("optimizer")
          ? "online".equals(params.get("optimizer"))
          : params.containsKey("miniBatchFraction");
      return online ? "noisy" : "linear";
    }
    if (estimator.equals("GeneralizedLinearRegression")) {
      return "superlinear";
    }
    if (estimator.equals("Word2Vec") || estimator.equals("StreamingKMeansModel")) {
      return "noisy";
    }
    if (BOOSTING.contains(estimator)) {
      return "sublinear";
    }
    return LINEAR.contains(estimator) ? "linear" : "none";
  }
}
