package io.slaq.probe;

import breeze.linalg.DenseMatrix;
import org.apache.commons.math3.special.Gamma;
import org.apache.spark.mllib.clustering.OnlineLDAOptimizer;

/**
 * A loss for online LDA from what the driver holds after each mini-batch: how surprising its words are under the topics
 * they were assigned to, by the topics as they were before the update. It is the word term of the variational bound,
 * negated and per token; the whole bound would cost a second inference over the documents.
 */
public final class TopicBatch {
  /** Digamma takes some 30 ns: this many keep the hook far below the driver's own work on the same matrix. */
  private static final int MOST_ENTRIES = 10_000;

  private TopicBatch() {}

  /** At the head of updateLambda; {@code counts} holds the batch's expected count of every word in every topic. */
  public static void update(Object optimizer, Object counts) {
    if (Health.stopped("lda online")) {
      return;
    }
    try {
      if (ExtraWork.onDriver() == null) {
        return;
      }
      double value = surprise(((OnlineLDAOptimizer) optimizer).getLambda(), (DenseMatrix<?>) counts);
      if (!Double.isNaN(value)) {
        Fits.loss("topicWordSurprise", value);
      }
    } catch (Throwable t) {
      Health.failed("lda online", t);
    }
  }

  private static double surprise(DenseMatrix<?> lambda, DenseMatrix<?> counts) {
    double[] topics = (double[]) lambda.data();
    double[] batch = (double[]) counts.data();
    // The same words at every iteration, so that values compare.
    int stride = Math.max(1, (int) ((long) lambda.rows() * lambda.cols() / MOST_ENTRIES));
    double total = 0;
    double tokens = 0;
    for (int topic = 0; topic < lambda.rows(); topic++) {
      double sum = 0;
      for (int word = 0; word < lambda.cols(); word++) {
        sum += topics[lambda.linearIndex(topic, word)];
      }
      double normaliser = Gamma.digamma(sum);
      for (int word = 0; word < lambda.cols(); word += stride) {
        double count = batch[counts.linearIndex(topic, word)];
        if (count > 0) {
          total += count * (normaliser - Gamma.digamma(topics[lambda.linearIndex(topic, word)]));
          tokens += count;
        }
      }
    }
    return total / tokens;
  }
}
