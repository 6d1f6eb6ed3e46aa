package io.slaq.bridge;

import org.apache.spark.scheduler.ExecutorResourcesAmounts;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.WorkerOffer;
import scala.Option;
import scala.collection.mutable.ArrayBuffer;
import scala.math.BigDecimal;

/** For `slaq bench offers`: what a round of offers costs inside Spark's scheduler. Written for the newest Spark only. */
public final class RoundTiming {
  private RoundTiming() {}

  /**
   * Mean nanoseconds of a round in which one executor has so many free cores and the others none. The executors exist
   * only in the offers, so tasks that are launched there are never run.
   */
  public static double nanos(TaskSchedulerImpl scheduler, int executors, int freeCores, int rounds) {
    ArrayBuffer<WorkerOffer> offers = new ArrayBuffer<>();
    for (int i = 0; i < executors; i++) {
      BigDecimal cores = BigDecimal.exact(i == 0 ? freeCores : 0);
      ExecutorResourcesAmounts resources = ExecutorResourcesAmounts.empty();
      ScalaBuffers.append(
          offers, new WorkerOffer("executor-" + i, "host-" + i, cores, Option.empty(), resources, 0));
    }
    long started = System.nanoTime();
    for (int i = 0; i < rounds; i++) {
      scheduler.resourceOffers(offers.toIndexedSeq(), false);
    }
    return (System.nanoTime() - started) / (double) rounds;
  }
}
