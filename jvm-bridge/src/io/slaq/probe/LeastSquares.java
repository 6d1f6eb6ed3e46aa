package io.slaq.probe;

import org.apache.spark.ml.linalg.DenseVector;
import org.apache.spark.ml.optim.IterativelyReweightedLeastSquares;
import org.apache.spark.ml.optim.WeightedLeastSquaresModel;

/**
 * Weighted least squares and the reweighted kind behind GeneralizedLinearRegression, from the normal equations that
 * Spark aggregates to the driver for every solution: no pass over the data, O(p²) for p features beside Spark's O(p³).
 */
public final class LeastSquares {
  /** Spark's private WeightedLeastSquares.Aggregator. */
  private Object summary;
  private double[] coefficients;
  private double intercept;

  private LeastSquares() {}

  /** When a summary of the data reaches the driver. */
  public static void summary(Object aggregator) {
    if (Health.stopped("least squares summary")) {
      return;
    }
    try {
      LeastSquares state = state();
      if (state != null) {
        state.summary = aggregator;
      }
    } catch (Throwable t) {
      Health.failed("least squares summary", t);
    }
  }

  /** When a problem is solved: should nothing else report, its residual is the one value of this fit. */
  public static void solved(Object model) {
    if (Health.stopped("least squares")) {
      return;
    }
    try {
      LeastSquares state = state();
      if (state != null && state.summary != null) {
        Object data = state.summary;
        Fit fit = Fits.current();
        fit.atEnd(() -> {
          if (fit.losses() == 0) {
            fit.loss("residual", residual(data, (WeightedLeastSquaresModel) model));
          }
        });
      }
    } catch (Throwable t) {
      Health.failed("least squares", t);
    }
  }

  /**
   * After each step of reweighted least squares: half the squared Newton decrement, which is what the step is expected
   * to take off the negative log-likelihood, and near the optimum all that is left to gain. The deviance itself is not
   * known to Spark before the end and would cost a pass over the data.
   */
  public static void step(Object model, Object algorithm) {
    if (Health.stopped("irls")) {
      return;
    }
    try {
      LeastSquares state = state();
      if (state == null || state.summary == null) {
        return;
      }
      IterativelyReweightedLeastSquares irls = (IterativelyReweightedLeastSquares) algorithm;
      if (state.coefficients == null) {
        state.remember(irls.initialModel());
      }
      WeightedLeastSquaresModel solution = (WeightedLeastSquaresModel) model;
      double decrement = state.decrement(solution, irls.regParam());
      // Spark subtracts the new coefficients from the old ones in place, so the old ones are kept as a copy.
      state.remember(solution);
      Fits.loss("newtonDecrement", decrement);
    } catch (Throwable t) {
      Health.failed("irls", t);
    }
  }

  private void remember(WeightedLeastSquaresModel model) {
    coefficients = model.coefficients().values().clone();
    intercept = model.intercept();
  }

  private double decrement(WeightedLeastSquaresModel model, double regParam) throws ReflectiveOperationException {
    double[] step = model.coefficients().values().clone();
    double ridge = 0;
    for (int i = 0; i < step.length; i++) {
      step[i] -= coefficients[i];
      ridge += step[i] * step[i];
    }
    double shift = model.intercept() - intercept;
    double curvature = quadratic(vector(summary, "aaBar"), step)
        + 2 * shift * dot(vector(summary, "aBar"), step)
        + shift * shift;
    return 0.5 * number(summary, "wSum") * (curvature + regParam * ridge);
  }

  /** Half the weighted mean squared error, as the sum of its second moments. */
  private static double residual(Object data, WeightedLeastSquaresModel model) throws ReflectiveOperationException {
    double[] beta = model.coefficients().values();
    double b = model.intercept();
    double explained = dot(vector(data, "abBar"), beta) + b * number(data, "bBar");
    double fitted = quadratic(vector(data, "aaBar"), beta) + 2 * b * dot(vector(data, "aBar"), beta) + b * b;
    return 0.5 * Math.max(number(data, "bbBar") - 2 * explained + fitted, 0.0);
  }

  private static double[] vector(Object summary, String name) throws ReflectiveOperationException {
    return ((DenseVector) Reflect.get(summary, name)).values();
  }

  private static double number(Object summary, String name) throws ReflectiveOperationException {
    return (Double) Reflect.get(summary, name);
  }

  private static double dot(double[] vector, double[] other) {
    double sum = 0;
    for (int i = 0; i < other.length; i++) {
      sum += vector[i] * other[i];
    }
    return sum;
  }

  /** x'Ax for a symmetric matrix stored as its upper triangle, column by column. */
  private static double quadratic(double[] packed, double[] x) {
    double sum = 0;
    int at = 0;
    for (int column = 0; column < x.length; column++) {
      double part = 0;
      for (int row = 0; row < column; row++) {
        part += packed[at++] * x[row];
      }
      sum += x[column] * (2 * part + packed[at++] * x[column]);
    }
    return sum;
  }

  private static LeastSquares state() {
    Fit fit = ExtraWork.onDriver();
    return fit == null ? null : fit.scratch(LeastSquares.class, LeastSquares::new);
  }
}
