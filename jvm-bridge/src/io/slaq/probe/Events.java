package io.slaq.probe;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The events of all fits, numbered 1, 2, 3 … and kept until their reader has acknowledged them.
 *
 * <p>Reading takes nothing away: a reader that fails halfway reads the same events again. Without a reader the newest
 * are kept; the oldest are dropped and counted.
 */
public final class Events {
  private static final int CAPACITY = 1 << 16;

  private static final ArrayDeque<Event> KEPT = new ArrayDeque<>();
  private static long numbered;
  private static long dropped;

  private Events() {}

  static synchronized void add(Event event) {
    event.setSeq(++numbered);
    KEPT.addLast(event);
    if (KEPT.size() > CAPACITY) {
      KEPT.removeFirst();
      dropped++;
    }
  }

  /** The next number, for a record that is delivered and acknowledged together with the events. */
  public static synchronized long number() {
    return ++numbered;
  }

  /** Forget the events up to this number: their reader has applied them. */
  public static synchronized void acknowledge(long acked) {
    while (!KEPT.isEmpty() && KEPT.peekFirst().seq() <= acked) {
      KEPT.removeFirst();
    }
  }

  /**
   * Write the events after {@code acked}, oldest first and at most {@code max}, as a JSON array. Returns the number up to
   * which nothing is missing: that of the last event written if there are more, and the latest given out otherwise.
   */
  public static long write(Json json, long acked, int max) {
    Health.flushWarnings();
    List<Event> events = new ArrayList<>();
    long complete = after(acked, max, events);
    json.openArray();
    for (Event event : events) {
      event.write(json);
    }
    json.closeArray();
    return complete;
  }

  /** For tools that follow fits without a scheduler: take up to {@code max} events, as one JSON array. */
  public static String drain(int max) {
    Json json = new Json();
    acknowledge(write(json, 0, max));
    return json.toString();
  }

  /** How many events are kept. */
  public static synchronized long pending() {
    return KEPT.size();
  }

  /** How many events were lost because nobody acknowledged them in time. */
  public static synchronized long dropped() {
    return dropped;
  }

  private static synchronized long after(long acked, int max, List<Event> found) {
    for (Event event : KEPT) {
      if (event.seq() <= acked) {
        continue;
      }
      if (found.size() >= max) {
        return found.isEmpty() ? acked : found.get(found.size() - 1).seq();
      }
      found.add(event);
    }
    return Math.max(numbered, acked);
  }
}
