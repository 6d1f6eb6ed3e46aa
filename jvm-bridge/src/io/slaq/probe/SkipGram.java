package io.slaq.probe;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.mllib.feature.Word2Vec;
import org.apache.spark.rdd.RDD;
import org.apache.spark.util.CollectionAccumulator;
import scala.Function2;
import scala.reflect.ClassTag;

/**
 * The loss of Word2Vec, which Spark never computes: the negative log-likelihood of neighbouring words under the
 * hierarchical softmax, per pair, on a fixed sample of sentences. The sample is taken aside while the first iteration
 * reads them; the value is computed on the driver from the vectors that each iteration brings there.
 */
public final class SkipGram {
  /** Some 2 million multiplications at the default vector size: a few milliseconds an iteration. */
  private static final int MOST_PAIRS = 1000;

  private final CollectionAccumulator<int[]> sentences;
  private final List<int[]> pairs = new ArrayList<>();
  private int[][] codes;
  private int[][] points;

  private SkipGram(CollectionAccumulator<int[]> sentences) {
    this.sentences = sentences;
  }

  /** In place of mapPartitionsWithIndex over the sentences: in the first iteration, some are kept. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  public static RDD partitions(RDD sentences, Function2 train, boolean preserves, ClassTag tag) {
    return sampled(sentences).mapPartitionsWithIndex(train, preserves, tag);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static RDD sampled(RDD sentences) {
    if (Health.stopped("word2vec")) {
      return sentences;
    }
    try {
      Health.check("word2vec");
      Fit fit = ExtraWork.inTasks(sentences);
      if (fit == null || fit.scratchOf(SkipGram.class) != null) {
        return sentences;
      }
      CollectionAccumulator<int[]> kept = new CollectionAccumulator<>();
      sentences.sparkContext().register(kept);
      RDD sampled = sentences.mapPartitions(new SentenceSample(kept), true, sentences.elementClassTag());
      fit.scratch(SkipGram.class, () -> new SkipGram(kept));
      return sampled;
    } catch (Throwable t) {
      Health.failed("word2vec", t);
      return sentences;
    }
  }

  /** At the end of each iteration: {@code input} and {@code inner} are the vectors of words and of tree nodes. */
  public static void iterated(Object algorithm, float[] input, float[] inner) {
    if (Health.stopped("word2vec")) {
      return;
    }
    try {
      Fit fit = Fits.current();
      SkipGram state = fit == null ? null : fit.scratchOf(SkipGram.class);
      if (state == null) {
        return;
      }
      if (state.codes == null) {
        state.read((Word2Vec) algorithm);
      }
      if (!state.pairs.isEmpty()) {
        Fits.loss("skipGramLoss", state.mean(input, inner, input.length / state.codes.length));
      }
    } catch (Throwable t) {
      Health.failed("word2vec", t);
    }
  }

  private void read(Word2Vec algorithm) throws ReflectiveOperationException {
    Object[] vocabulary = (Object[]) Reflect.field(algorithm, "vocab");
    codes = new int[vocabulary.length][];
    points = new int[vocabulary.length][];
    for (int word = 0; word < vocabulary.length; word++) {
      int length = (Integer) Reflect.get(vocabulary[word], "codeLen");
      codes[word] = java.util.Arrays.copyOf((int[]) Reflect.get(vocabulary[word], "code"), length);
      points[word] = java.util.Arrays.copyOf((int[]) Reflect.get(vocabulary[word], "point"), length);
    }
    int window = (Integer) Reflect.field(algorithm, "window");
    for (int[] sentence : sentences.value()) {
      addPairs(sentence, window);
    }
  }

  private void addPairs(int[] sentence, int window) {
    for (int at = 0; at < sentence.length; at++) {
      for (int other = Math.max(0, at - window); other < Math.min(sentence.length, at + window + 1); other++) {
        if (other != at && pairs.size() < MOST_PAIRS) {
          pairs.add(new int[] {sentence[at], sentence[other]});
        }
      }
    }
  }

  private double mean(float[] input, float[] inner, int size) {
    double total = 0;
    for (int[] pair : pairs) {
      int[] code = codes[pair[0]];
      int[] point = points[pair[0]];
      for (int d = 0; d < code.length; d++) {
        double dot = 0;
        for (int i = 0; i < size; i++) {
          dot += input[pair[1] * size + i] * inner[point[d] * size + i];
        }
        // Bit 0 is predicted by the sigmoid of the product, bit 1 by one minus it.
        total += Math.log1p(Math.exp(code[d] == 0 ? -dot : dot));
      }
    }
    return total / pairs.size();
  }
}
