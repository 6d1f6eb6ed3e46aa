package io.slaq.probe;

import org.apache.spark.ml.tree.impl.GradientBoostedTrees$;
import org.apache.spark.ml.tree.impl.TreePoint;
import org.apache.spark.mllib.tree.loss.Loss;
import org.apache.spark.rdd.RDD;
import scala.Tuple2;

/**
 * The training error of gradient-boosted trees after each tree. Spark computes every row's error to train the next
 * tree; a loss function that also adds them up, inside those very tasks, gives their mean (weights of rows are not known
 * there). Only the last tree's errors are never needed by Spark: they take one small job over cached data, once per fit.
 */
public final class Boosting {
  private final Tally tally = new Tally(this::merged);
  private final Fit fit;
  private final RDD<?> training;
  private RDD<?> errors;
  private int trees;
  private int reported;
  private double rows;

  private Boosting(Fit fit, RDD<?> training) {
    this.fit = fit;
    this.training = training;
    training.sparkContext().register(tally);
  }

  /** At the head of computeInitialPredictionAndError and updatePredictionError: a loss that also counts. */
  public static Object counting(RDD<?> data, Object loss) {
    if (Health.stopped("boosting")) {
      return loss;
    }
    try {
      Health.check("boosting");
      Fit fit = ExtraWork.inTasks(data);
      if (fit == null) {
        return loss;
      }
      Boosting state = fit.scratch(Boosting.class, () -> new Boosting(fit, data));
      // The same methods also score the validation set, whose errors Spark watches itself.
      return state.training == data ? state.nextTree((Loss) loss) : loss;
    } catch (Throwable t) {
      Health.failed("boosting", t);
      return loss;
    }
  }

  /** At the return of the same methods. */
  public static void errors(RDD<?> data, RDD<?> errors) {
    try {
      Boosting state = state();
      if (state != null && state.training == data) {
        state.errors = errors;
      }
    } catch (Throwable t) {
      Health.failed("boosting", t);
    }
  }

  /** When boosting is done and its data is still cached. */
  public static void finished() {
    if (Health.stopped("boosting")) {
      return;
    }
    try {
      Boosting state = state();
      if (state != null && state.reported < state.trees) {
        state.lastTree();
      }
    } catch (Throwable t) {
      Health.failed("boosting", t);
    }
  }

  private static Boosting state() {
    Fit fit = Fits.current();
    return fit == null ? null : fit.scratchOf(Boosting.class);
  }

  private synchronized Loss nextTree(Loss loss) {
    // To train the tree just built, Spark has computed all errors of the one before.
    if (trees > 0) {
      rows = tally.total(trees - 1)[Tally.COUNT];
      report(trees - 1);
    }
    return new BoostingLoss(loss, tally, trees++);
  }

  @SuppressWarnings("unchecked")
  private void lastTree() {
    GradientBoostedTrees$.MODULE$.computeWeightedError(
        (RDD<TreePoint>) training, (RDD<Tuple2<Object, Object>>) errors);
    report(trees - 1);
  }

  /** On the driver's event loop: from the second tree on, the number of rows tells when a tree's errors are whole. */
  private synchronized void merged() {
    if (rows > 0 && reported < trees && tally.total(reported)[Tally.COUNT] == rows) {
      report(reported);
    }
  }

  private synchronized void report(int tree) {
    if (tree != reported) {
      return;
    }
    double[] total = tally.total(tree);
    if (total[Tally.COUNT] > 0) {
      fit.loss("trainingError", total[Tally.SUM] / total[Tally.COUNT]);
    }
    tally.forget(tree);
    reported++;
  }
}
