package io.slaq.probe;

import org.apache.spark.mllib.tree.loss.Loss;

/** Computes errors as the given loss does, and adds them up. Lives in tasks; one for each tree. */
final class BoostingLoss implements Loss {
  private static final long serialVersionUID = 1L;

  private final Loss loss;
  private final Tally tally;
  private final int tree;
  private transient double[] cell;

  BoostingLoss(Loss loss, Tally tally, int tree) {
    this.loss = loss;
    this.tally = tally;
    this.tree = tree;
  }

  @Override
  public double gradient(double prediction, double label) {
    return loss.gradient(prediction, label);
  }

  @Override
  public double computeError(double prediction, double label) {
    double error = loss.computeError(prediction, label);
    try {
      count(error);
    } catch (Throwable t) {
      tally.spoil(tree);
    }
    return error;
  }

  private void count(double error) {
    if (cell == null) {
      cell = tally.cell(tree);
    }
    cell[Tally.SUM] += error;
    cell[Tally.COUNT]++;
  }
}
