package io.slaq.probe;

import breeze.linalg.DenseVector;
import java.io.Serializable;
import org.apache.spark.SparkContext;
import org.apache.spark.graphx.EdgeContext;
import org.apache.spark.graphx.Graph;
import org.apache.spark.graphx.TripletFields;
import org.apache.spark.graphx.VertexRDD;
import org.apache.spark.mllib.clustering.EMLDAOptimizer;
import scala.Function1;
import scala.Function2;
import scala.reflect.ClassTag;
import scala.runtime.AbstractFunction1;
import scala.runtime.BoxedUnit;

/**
 * The log-posterior of EM for LDA, which is what EM climbs (its likelihood alone may fall), negated and per token, as it
 * is before each iteration: summed while the iteration's own pass visits the edges of the document-word graph, at the
 * first edges of every partition and a sample of the rest.
 */
public final class TopicPosterior extends AbstractFunction1<Object, BoxedUnit> implements Serializable {
  private static final long serialVersionUID = 1L;

  /** All edges of a small corpus count; of a large one as many as cost next to nothing. Always the same ones. */
  private static final int ALL_OF = 1024;
  private static final int ONE_OF = 128;

  private final Function1<Object, BoxedUnit> send;
  private final Tally tally;
  private final int step;
  private final double[] topicTotals;
  private final double alpha;
  private final double eta;
  private transient int edges;
  private transient double[] cell;

  private TopicPosterior(Function1<Object, BoxedUnit> send, Steps steps, EMLDAOptimizer optimizer) {
    this.send = send;
    this.tally = steps.tally;
    this.step = ++steps.step;
    this.alpha = optimizer.docConcentration() - 1;
    this.eta = optimizer.topicConcentration() - 1;
    this.topicTotals = ((double[]) optimizer.globalTopicTotals().data()).clone();
    for (int i = 0; i < topicTotals.length; i++) {
      topicTotals[i] += optimizer.vocabSize() * eta;
    }
  }

  /** In place of the graph's aggregateMessages in EMLDAOptimizer.next. */
  @SuppressWarnings({"unchecked", "rawtypes"})
  public static VertexRDD aggregate(
      Graph graph, Function1 send, Function2 merge, TripletFields fields, ClassTag tag, Object optimizer) {
    return graph.aggregateMessages(counting(graph, send, optimizer), merge, fields, tag);
  }

  @SuppressWarnings({"unchecked", "rawtypes"})
  private static Function1 counting(Graph graph, Function1 send, Object optimizer) {
    if (Health.stopped("lda em")) {
      return send;
    }
    try {
      Health.check("lda em");
      Fit fit = ExtraWork.inModel(graph.vertices());
      if (fit == null) {
        return send;
      }
      Steps steps = fit.scratch(Steps.class, () -> new Steps(graph.vertices().sparkContext()));
      return new TopicPosterior(send, steps, (EMLDAOptimizer) optimizer);
    } catch (Throwable t) {
      Health.failed("lda em", t);
      return send;
    }
  }

  /** At the return of next(), which has waited for its pass. */
  public static void iterated() {
    if (Health.stopped("lda em")) {
      return;
    }
    try {
      Fit fit = Fits.current();
      Steps steps = fit == null ? null : fit.scratchOf(Steps.class);
      double[] total = steps == null ? null : steps.tally.total(steps.step);
      if (total != null && total[Tally.OTHER] > 0) {
        steps.tally.forget(steps.step);
        Fits.loss("negLogPosteriorPerToken", -total[Tally.SUM] / total[Tally.OTHER]);
      }
    } catch (Throwable t) {
      Health.failed("lda em", t);
    }
  }

  /** One tally for all iterations: Spark ships every function of a graph's past with each new task. */
  private static final class Steps {
    private final Tally tally = new Tally(null);
    private int step;

    private Steps(SparkContext context) {
      context.register(tally);
    }
  }

  @Override
  public BoxedUnit apply(Object context) {
    int edge = edges++;
    if (edge < ALL_OF || edge % ONE_OF == 0) {
      try {
        count((EdgeContext<?, ?, ?>) context);
      } catch (Throwable t) {
        tally.spoil(step);
      }
    }
    return send.apply(context);
  }

  /**
   * tokens × log Σ_k φ_wk θ_dk, and the priors of the two vertices, smoothed as Spark's own logLikelihood and logPrior.
   * The counts of a vertex add up to its tokens, so each of its edges carries the prior in proportion to its own.
   */
  private void count(EdgeContext<?, ?, ?> context) {
    double[] document = (double[]) ((DenseVector<?>) context.srcAttr()).data();
    double[] word = (double[]) ((DenseVector<?>) context.dstAttr()).data();
    double tokens = (Double) context.attr();
    double documentTokens = sum(document);
    double documentTotal = documentTokens + alpha * document.length;
    double probability = 0;
    double logTheta = 0;
    double logPhi = 0;
    for (int k = 0; k < topicTotals.length; k++) {
      double theta = (document[k] + alpha) / documentTotal;
      double phi = (word[k] + eta) / topicTotals[k];
      probability += theta * phi;
      logTheta += Math.log(theta);
      logPhi += Math.log(phi);
    }
    double prior = alpha * logTheta / documentTokens + eta * logPhi / sum(word);
    if (cell == null) {
      cell = tally.cell(step);
    }
    cell[Tally.SUM] += tokens * (Math.log(probability) + prior);
    cell[Tally.OTHER] += tokens;
    cell[Tally.COUNT]++;
  }

  private static double sum(double[] values) {
    double sum = 0;
    for (double value : values) {
      sum += value;
    }
    return sum;
  }
}
