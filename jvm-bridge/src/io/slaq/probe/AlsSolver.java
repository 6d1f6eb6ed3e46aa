package io.slaq.probe;

import org.apache.spark.ml.recommendation.ALS;

/** Solves as the given solver does, and adds up x·b and λ|x|² of what it solved. Lives in tasks. */
final class AlsSolver implements ALS.LeastSquaresNESolver {
  private static final long serialVersionUID = 1L;

  private final ALS.LeastSquaresNESolver solver;
  private final Tally tally;
  private final int step;
  private transient double[] rightHandSide;

  AlsSolver(Object solver, Tally tally, int step) {
    this.solver = (ALS.LeastSquaresNESolver) solver;
    this.tally = tally;
    this.step = step;
  }

  @Override
  public float[] solve(ALS.NormalEquation equation, double lambda) {
    boolean kept = keep(equation.atb());
    float[] solution = solver.solve(equation, lambda);
    if (kept) {
      count(solution, lambda);
    }
    return solution;
  }

  /** The solver overwrites the right-hand side, so it is copied first; false (and no value) rather than an error. */
  private boolean keep(double[] atb) {
    if (atb == null) {
      return false;
    }
    if (rightHandSide == null || rightHandSide.length != atb.length) {
      rightHandSide = new double[atb.length];
    }
    System.arraycopy(atb, 0, rightHandSide, 0, atb.length);
    return true;
  }

  private void count(float[] solution, double lambda) {
    try {
      add(solution, lambda);
    } catch (Throwable t) {
      tally.spoil(step);
    }
  }

  private void add(float[] solution, double lambda) {
    double product = 0;
    double norm = 0;
    for (int i = 0; i < solution.length; i++) {
      product += solution[i] * rightHandSide[i];
      norm += (double) solution[i] * solution[i];
    }
    double[] cell = tally.cell(step);
    cell[Tally.SUM] += product;
    cell[Tally.OTHER] += lambda * norm;
    cell[Tally.COUNT]++;
  }
}
