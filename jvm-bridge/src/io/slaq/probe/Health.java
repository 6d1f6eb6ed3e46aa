package io.slaq.probe;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What went wrong inside the probe, counted by hook, with one warning for each: training never sees any of it. */
public final class Health {
  /** After this many failures a hook is not called any more. */
  private static final int FAILURES_BORNE = 3;

  private static final Map<String, LongAdder> ERRORS = new ConcurrentHashMap<>();
  private static final Set<String> STOPPED = ConcurrentHashMap.newKeySet();
  private static final Set<String> APPLIED = ConcurrentHashMap.newKeySet();
  private static final Map<String, LongAdder> MISSED = new ConcurrentHashMap<>();
  private static final Map<String, String> REASONS = new ConcurrentHashMap<>();
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

  /** Whether a hook has failed so often that it must not try again; cheap while nothing has. */
  static boolean stopped(String hook) {
    return !STOPPED.isEmpty() && STOPPED.contains(hook);
  }

  /** A hook threw: count it, warn the first time, stop it the third time. */
  static void failed(String hook, Throwable error) {
    long failures = count(ERRORS, hook);
    if (failures >= FAILURES_BORNE) {
      STOPPED.add(hook);
    }
    if (failures == 1) {
      WARNINGS.increment();
      log().warn("SLAQ's probe failed in hook {}; training goes on without it (warned once)", hook, error);
    }
  }

  static void applied(String hook) {
    APPLIED.add(hook);
  }

  static boolean isApplied(String hook) {
    return APPLIED.contains(hook);
  }

  /** A hook does not fit this Spark: the class stays as it is. */
  static void missed(String hook, String reason) {
    if (count(MISSED, hook) == 1) {
      WARNINGS.increment();
      REASONS.put(hook, reason);
      WAITING.add(hook + " (" + reason + ")");
    }
  }

  static void orphan() {
    ORPHANS.increment();
  }

  static void flushWarnings() {
    List<String> hooks = new ArrayList<>();
    for (String hook = WAITING.poll(); hook != null; hook = WAITING.poll()) {
      hooks.add(hook);
    }
    if (!hooks.isEmpty()) {
      log().warn(
          "SLAQ's probe does not know this version of Spark for {}: those losses are not seen and those fits not "
              + "stopped early, training is not affected",
          String.join("; ", hooks));
    }
  }

  /** Counters as JSON: hooks applied and missed, errors by hook, values seen outside any fit, events dropped. */
  public static String report() {
    Json json = new Json().open().key("applied").open();
    APPLIED.forEach(hook -> json.field(hook, 1));
    json.close();
    write(json, "missed", MISSED);
    json.key("reasons").open();
    REASONS.forEach((hook, reason) -> json.field(hook, reason));
    json.close();
    write(json, "errors", ERRORS);
    json.key("stopped").open();
    STOPPED.forEach(hook -> json.field(hook, 1));
    json.close();
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
