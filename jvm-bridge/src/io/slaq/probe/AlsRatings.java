package io.slaq.probe;

import java.io.Serializable;
import org.apache.spark.ml.recommendation.ALS;
import scala.Tuple2;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Passes blocks of ratings through and adds up what the objective of ALS is without any factors. Lives in tasks. */
final class AlsRatings extends AbstractFunction1<Iterator<Object>, Iterator<Object>> implements Serializable {
  private static final long serialVersionUID = 1L;

  private final Tally tally;
  private final int step;
  private final boolean implicitPrefs;
  private final double alpha;

  AlsRatings(Tally tally, int step, boolean implicitPrefs, double alpha) {
    this.tally = tally;
    this.step = step;
    this.implicitPrefs = implicitPrefs;
    this.alpha = alpha;
  }

  @Override
  public Iterator<Object> apply(Iterator<Object> blocks) {
    return blocks.map(new AbstractFunction1<Object, Object>() {
      @Override
      public Object apply(Object block) {
        try {
          count((ALS.InBlock<?>) ((Tuple2<?, ?>) block)._2());
        } catch (Throwable t) {
          tally.spoil(step);
        }
        return block;
      }
    });
  }

  /** Explicit: the sum of r². Implicit: the confidence 1 + α|r| of each preference that is 1. */
  private void count(ALS.InBlock<?> block) {
    double sum = 0;
    for (float rating : block.ratings()) {
      if (!implicitPrefs) {
        sum += (double) rating * rating;
      } else if (rating > 0) {
        sum += 1 + alpha * rating;
      }
    }
    double[] cell = tally.cell(step);
    cell[Tally.SUM] += sum;
    cell[Tally.COUNT] += block.ratings().length;
  }
}
