package io.slaq.probe;

import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.Tuple2;

/**
 * Ends fits early, with the model they have: what rewritten loops ask before each iteration.
 *
 * <p>While nothing is asked for, every method here returns what it was given.
 */
public final class Stops {
  /** The answers to {@link #ask}; any other text says why the fit cannot be stopped. */
  public static final String ASKED = "asked";
  public static final String ASKED_BEFORE = "asked before";
  public static final String UNKNOWN = "unknown";

  private static final Map<String, Fit> OPEN = new ConcurrentHashMap<>();
  private static volatile int each;

  private Stops() {}

  static void begun(Fit fit) {
    if (!fit.wrapper()) {
      OPEN.put(fit.job(), fit);
      if (each > 0) {
        fit.stop().ask(each, "a test wants it");
      }
    }
  }

  static void ended(Fit fit) {
    OPEN.remove(fit.job());
  }

  /** Have a fit return its model once {@code afterIterations} are done, one at least; 0: after the one under way. */
  public static String ask(String job, int afterIterations, String why) {
    Fit fit = OPEN.get(job);
    if (fit == null) {
      return UNKNOWN;
    }
    if (fit.stop().obstacle() != null) {
      return fit.stop().obstacle();
    }
    return fit.stop().ask(afterIterations, why) ? ASKED : ASKED_BEFORE;
  }

  /** Whether a fit is in its last iteration, which should not wait for cores. */
  public static boolean ending(String job) {
    Fit fit = OPEN.get(job);
    return fit != null && fit.stop().ending();
  }

  /** Every fit that begins from now on stops after so many iterations; 0: none. Tests set it; nothing else does. */
  public static void afterEach(int iterations) {
    each = iterations;
  }

  /** What Breeze says of convergence at a state, or true. */
  public static boolean minimized(boolean converged, Object state) {
    return converged || (state instanceof breeze.optimize.FirstOrderMinimizer.State
        && due(Loop.BREEZE, ((breeze.optimize.FirstOrderMinimizer.State<?, ?, ?>) state).iter()));
  }

  /** What gradient descent says of convergence after a step, or true. */
  public static boolean descended(boolean converged) {
    return converged || due(Loop.GRADIENT_DESCENT, losses());
  }

  /** The bound of a loop over iterations, or one that is already reached; the same for the four below. */
  public static int kmeans(int done, int bound) {
    return bound(Loop.KMEANS, done, bound);
  }

  public static int mixture(int done, int bound) {
    return bound(Loop.MIXTURE, done, bound);
  }

  public static int reweighted(int done, int bound) {
    return bound(Loop.REWEIGHTING, done, bound);
  }

  public static int topics(int done, int bound) {
    return bound(Loop.TOPICS, done, bound);
  }

  public static int trees(int done, int bound) {
    return bound(Loop.TREES, done, bound);
  }

  /** The change of the log-likelihood, or one below any tolerance. */
  public static double likelihoodChange(double change) {
    return due(Loop.MIXTURE, losses()) ? Double.NEGATIVE_INFINITY : change;
  }

  /** Whether power iteration goes on. */
  public static boolean powers(boolean goesOn, int done) {
    return goesOn && !due(Loop.POWER_ITERATION, done);
  }

  /** Whether to leave out an iteration of implicit ALS; they count from 1. */
  public static boolean skipsFactors(int iteration) {
    return due(Loop.FACTORS, iteration - 1);
  }

  /** Whether to leave out an iteration of Word2Vec; they count from 1. */
  public static boolean skipsWords(int iteration) {
    return due(Loop.WORDS, iteration - 1);
  }

  /**
   * Whether to leave out an iteration of bisecting k-means, which count from 0 on every level. The first stays, for it
   * makes the centres of the level; the tree grows to its leaves in any case. The first loss is that of the root.
   */
  public static boolean skipsBisection(int iteration) {
    return iteration > 0 && due(Loop.BISECTING, losses() - 1);
  }

  /** At the returns of boosting: trees and weights without the places of the trees that were not built. */
  public static Tuple2<?, ?> built(Tuple2<?, ?> treesAndWeights) {
    try {
      Fit fit = Fits.current();
      if (fit == null || !fit.stop().honoured()) {
        return treesAndWeights;
      }
      Object[] trees = (Object[]) treesAndWeights._1();
      int built = 0;
      while (built < trees.length && trees[built] != null) {
        built++;
      }
      return built == trees.length
          ? treesAndWeights
          : new Tuple2<>(Arrays.copyOf(trees, built), Arrays.copyOf((double[]) treesAndWeights._2(), built));
    } catch (Throwable t) {
      Health.failed(Loop.TREES.hook(0), t);
      return treesAndWeights;
    }
  }

  private static int bound(Loop loop, int done, int bound) {
    return done < bound && due(loop, done) ? Integer.MIN_VALUE : bound;
  }

  private static int losses() {
    try {
      Fit fit = Fits.current();
      return fit == null ? 0 : fit.losses();
    } catch (Throwable t) {
      Health.failed("stop", t);
      return 0;
    }
  }

  /** Whether this thread's fit is to end now, in this loop, with so many iterations done; logged the first time. */
  private static boolean due(Loop loop, int done) {
    if (Health.stopped("stop")) {
      return false;
    }
    try {
      Fit fit = Fits.current();
      if (fit == null || !fit.stop().due(loop, done)) {
        return false;
      }
      Health.check("stop");
      if (fit.stop().honour()) {
        log().warn(
            "SLAQ has stopped {} ({}) after iteration {}: {}; fit returns the model it has",
            fit.job(), fit.uid() == null ? fit.estimator() : fit.uid(), done, fit.stop().why());
      }
      return true;
    } catch (Throwable t) {
      Health.failed("stop", t);
      return false;
    }
  }

  private static Logger log() {
    return LoggerFactory.getLogger("io.slaq.probe");
  }
}
