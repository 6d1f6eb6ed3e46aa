package io.slaq.probe;

/** A bounded ring of events: the newest are kept, the oldest dropped and counted when nobody fetches them. */
public final class Events {
  private static final int CAPACITY = 1 << 16;

  private static final Event[] RING = new Event[CAPACITY];
  private static long written;
  private static long read;
  private static long dropped;

  private Events() {}

  static synchronized void add(Event event) {
    RING[(int) (written++ % CAPACITY)] = event;
    if (written - read > CAPACITY) {
      read++;
      dropped++;
    }
  }

  /** Take up to {@code max} pending events, oldest first, as one JSON array. */
  public static String drain(int max) {
    Health.flushWarnings();
    Json json = new Json().openArray();
    for (Event event : take(max)) {
      event.write(json);
    }
    return json.closeArray().toString();
  }

  private static synchronized Event[] take(int max) {
    int count = (int) Math.min(Math.max(max, 0), written - read);
    Event[] taken = new Event[count];
    for (int i = 0; i < count; i++) {
      int slot = (int) (read++ % CAPACITY);
      taken[i] = RING[slot];
      RING[slot] = null;
    }
    return taken;
  }

  /** How many events wait to be drained. */
  public static synchronized long pending() {
    return written - read;
  }

  /** How many events were lost because nobody drained the ring in time. */
  public static synchronized long dropped() {
    return dropped;
  }
}
