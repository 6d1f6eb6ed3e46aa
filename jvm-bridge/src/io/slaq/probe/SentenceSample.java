package io.slaq.probe;

import java.io.Serializable;
import org.apache.spark.util.CollectionAccumulator;
import scala.collection.Iterator;
import scala.runtime.AbstractFunction1;

/** Passes sentences through and keeps the first few of a partition. Lives in tasks. */
final class SentenceSample extends AbstractFunction1<Iterator<Object>, Iterator<Object>> implements Serializable {
  private static final long serialVersionUID = 1L;
  private static final int KEPT = 50;
  private static final int LONGEST = 50;

  private final CollectionAccumulator<int[]> kept;

  SentenceSample(CollectionAccumulator<int[]> kept) {
    this.kept = kept;
  }

  @Override
  public Iterator<Object> apply(Iterator<Object> sentences) {
    return sentences.map(new AbstractFunction1<Object, Object>() {
      private int seen;

      @Override
      public Object apply(Object sentence) {
        if (seen++ < KEPT) {
          try {
            int[] words = (int[]) sentence;
            kept.add(java.util.Arrays.copyOf(words, Math.min(words.length, LONGEST)));
          } catch (Throwable t) {
            seen = KEPT; // A smaller sample, or none and no loss; the task goes on.
          }
        }
        return sentence;
      }
    });
  }
}
