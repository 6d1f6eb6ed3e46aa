package io.slaq.probe;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What went wrong inside the probe, counted by hook, with one warning for each: training never sees any of it. */
public final class Health {
  private static final Map<String, LongAdder> ERRORS = new ConcurrentHashMap<>();
  private static final Set<String> APPLIED = ConcurrentHashMap.newKeySet();
  private static final Map<String, LongAdder> MISSED = new ConcurrentHashMap<>();
  private static final LongAdder ORPHANS = new LongAdder();
  private static final LongAdder WARNINGS = new LongAdder();

  /** Warnings born while a class is being loaded wait here: logging at that moment could load classes in a circle. */
  private static final ConcurrentLinkedQueue<String> WAITING = new ConcurrentLinkedQueue<>();

  /** Fault injection: the hook of this name throws. Tests set it; nothing else does. */
  public static volatile String fault;

  private Health() {}

  static void check(String hook) {
    if (fault != null && fault.equals(hook)) {
      throw new IllegalStateException("injected fault in " + hook);
    }
  }

  /** A hook threw: count it, warn the first time. */
  static void failed(String hook, Throwable error) {
    if (count(ERRORS, hook) == 1) {
      WARNINGS.increment();
      log().warn("SLAQ's probe failed in hook {}; training goes on without it (warned once)", hook, error);
    }
  }

  static void applied(String hook) {
    APPLIED.add(hook);
  }

  /** A class is not as the hook expects it: the class stays as it is. */
  static void missed(String hook, String reason) {
    if (count(MISSED, hook) == 1) {
      WARNINGS.increment();
      WAITING.add("SLAQ's probe does not know this version of Spark for hook " + hook + " (" + reason
          + "): those losses are not seen, training is not affected");
    }
  }

  static void orphan() {
    ORPHANS.increment();
  }

  static void flushWarnings() {
    for (String warning = WAITING.poll(); warning != null; warning = WAITING.poll()) {
      log().warn(warning);
    }
  }

  /** Counters as JSON: hooks applied and missed, errors by hook, values seen outside any fit, events dropped. */
  public static String report() {
    Json json = new Json().open().key("applied").open();
    APPLIED.forEach(hook -> json.field(hook, 1));
    json.close();
    write(json, "missed", MISSED);
    write(json, "errors", ERRORS);
    json.field("orphans", ORPHANS.sum()).field("warnings", WARNINGS.sum()).field("dropped", Events.dropped());
    return json.close().toString();
  }

  private static void write(Json json, String name, Map<String, LongAdder> counts) {
    json.key(name).open();
    counts.forEach((hook, count) -> json.field(hook, count.sum()));
    json.close();
  }

  private static long count(Map<String, LongAdder> counts, String hook) {
    LongAdder adder = counts.computeIfAbsent(hook, key -> new LongAdder());
    synchronized (adder) {
      adder.increment();
      return adder.sum();
    }
  }

  private static Logger log() {
    return LoggerFactory.getLogger("io.slaq.probe");
  }
}
