package io.slaq.probe;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.mllib.clustering.StreamingKMeansModel;
import org.apache.spark.mllib.linalg.Vector;
import scala.Tuple2;
import scala.collection.Iterator;

/** Costs of bisecting and streaming k-means, from summaries that Spark collects to the driver. */
public final class Clusters {
  /** Cost of every leaf of the tree so far; the children of index i are 2i and 2i+1. */
  private final Map<Long, Double> leaves = new HashMap<>();

  private Clusters() {}

  /** After BisectingKMeans.summarize: a map from cluster index to summary, of the root or of one level's children. */
  public static void summarized(Object summaries) {
    if (Health.stopped("bisecting kmeans")) {
      return;
    }
    try {
      Fit fit = Fits.current();
      if (fit != null) {
        Fits.loss("cost", fit.scratch(Clusters.class, Clusters::new).total(summaries));
      }
    } catch (Throwable t) {
      Health.failed("bisecting kmeans", t);
    }
  }

  private double total(Object summaries) throws ReflectiveOperationException {
    Map<Long, Double> level = new HashMap<>();
    Iterator<?> entries = ((scala.collection.immutable.Map<?, ?>) summaries).iterator();
    while (entries.hasNext()) {
      Tuple2<?, ?> entry = (Tuple2<?, ?>) entries.next();
      level.put((Long) entry._1(), (Double) Reflect.get(entry._2(), "cost"));
    }
    for (long child : level.keySet()) {
      long parent = child / 2;
      leaves.remove(parent);
      leaves.remove(2 * parent);
      leaves.remove(2 * parent + 1);
    }
    leaves.putAll(level);
    return leaves.values().stream().mapToDouble(Double::doubleValue).sum();
  }

  /**
   * After StreamingKMeansModel.update has collected sum and count of the batch's points for each centre: by how much
   * the mean cost of this batch would fall if the centres moved to where its points are.
   */
  public static void batch(Object pointStats, Object model) {
    if (Health.stopped("streaming kmeans")) {
      return;
    }
    try {
      Vector[] centers = ((StreamingKMeansModel) model).clusterCenters();
      double excess = 0;
      long points = 0;
      for (Object stat : (Object[]) pointStats) {
        Tuple2<?, ?> cluster = (Tuple2<?, ?>) stat;
        Tuple2<?, ?> sumAndCount = (Tuple2<?, ?>) cluster._2();
        long count = (Long) sumAndCount._2();
        excess += count * squaredDistance((Vector) sumAndCount._1(), count, centers[(Integer) cluster._1()]);
        points += count;
      }
      if (points > 0) {
        Fits.loss("excessCost", excess / points);
      }
    } catch (Throwable t) {
      Health.failed("streaming kmeans", t);
    }
  }

  private static double squaredDistance(Vector sum, long count, Vector center) {
    double distance = 0;
    for (int i = 0; i < center.size(); i++) {
      double difference = sum.apply(i) / count - center.apply(i);
      distance += difference * difference;
    }
    return distance;
  }
}
