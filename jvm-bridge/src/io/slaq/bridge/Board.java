package io.slaq.bridge;

import io.slaq.probe.Contract;
import java.lang.reflect.InvocationTargetException;
import java.util.Collections;
import java.util.List;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The jobs as Python last told them for the tab in Spark's UI: written only while somebody looks at it.
 *
 * <p>The tab is reached by its name. What it needs of Spark is thereby no need of the bridge: where Spark's UI differs there
 * is no tab, and everything else works.
 */
public final class Board {
  private static final Logger LOG = LoggerFactory.getLogger("io.slaq.bridge");
  private static final String TAB = "io.slaq.ui.Tab";
  /** For so long after a look Python goes on writing. */
  private static final long LOOK_NANOS = 5_000_000_000L;
  /** A text of this age is not renewed for a look. */
  private static final long FRESH_NANOS = 2_000_000_000L;

  private static volatile boolean warned;

  private String text = "";
  private long writtenNanos = System.nanoTime() - FRESH_NANOS;
  private long lookedNanos = System.nanoTime() - LOOK_NANOS;
  private Runnable detach = () -> {};

  /** Adds the tab to the context's UI, if it has one that we know. */
  void attach(SparkContext sc) {
    try {
      List<String> missing = Contract.missing(Collections.singletonList(TAB.replace('.', '/')));
      if (!missing.isEmpty()) {
        failed("this Spark lacks " + String.join(", ", missing), null);
        return;
      }
      Class<?> tab = Class.forName(TAB);
      detach = (Runnable) tab.getMethod("attach", SparkContext.class, Board.class).invoke(null, sc, this);
    } catch (InvocationTargetException e) {
      failed("it could not be added", e.getCause());
    } catch (Throwable t) {
      failed("it could not be added", t);
    }
  }

  void detach() {
    try {
      detach.run();
    } catch (Throwable t) {
      failed("it could not be removed", t);
    }
  }

  /** Python's text. */
  synchronized void write(String newText) {
    text = newText;
    writtenNanos = System.nanoTime();
    notifyAll();
  }

  /** Whether somebody has just looked. */
  synchronized boolean watched() {
    return System.nanoTime() - lookedNanos < LOOK_NANOS;
  }

  /** For the tab: the text, after waiting a moment for a fresh one. */
  public synchronized String look(long patienceMillis) throws InterruptedException {
    long now = System.nanoTime();
    lookedNanos = now;
    long giveUp = now + patienceMillis * 1_000_000;
    while (System.nanoTime() - writtenNanos >= FRESH_NANOS && giveUp - System.nanoTime() > 0) {
      wait(Math.max((giveUp - System.nanoTime()) / 1_000_000, 1));
    }
    return text;
  }

  /** How long ago the text was written. */
  public synchronized double ageSeconds() {
    return (System.nanoTime() - writtenNanos) * 1e-9;
  }

  /** The tab does not work: said once, and nothing else changes. */
  public static void failed(String why, Throwable cause) {
    if (!warned) {
      warned = true;
      LOG.warn("SLAQ has no tab in Spark's UI: {}. Nothing else is affected.", why, cause);
    }
  }
}
