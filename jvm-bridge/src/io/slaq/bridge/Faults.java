package io.slaq.bridge;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Counts what went wrong inside the bridge, by place, and warns once per place: Spark must never notice more. */
final class Faults {
  private static final Logger LOG = LoggerFactory.getLogger("io.slaq.bridge");
  private static final Map<String, LongAdder> COUNTS = new ConcurrentHashMap<>();

  /** Of the bridge that was installed last. */
  private static volatile Fuse fuse;

  private Faults() {}

  static void record(String place, Throwable cause) {
    LongAdder count = COUNTS.get(place);
    if (count == null) {
      count = new LongAdder();
      LongAdder earlier = COUNTS.putIfAbsent(place, count);
      if (earlier == null) {
        LOG.warn("SLAQ failed in '{}'; Spark goes on as without it. Counted from now on, not logged again.", place, cause);
      } else {
        count = earlier;
      }
    }
    count.increment();
    Fuse armed = fuse;
    if (armed != null) {
      armed.fault(place);
    }
  }

  /** A bridge is being installed: what an earlier one in this JVM did wrong is not held against it. */
  static void arm(Fuse next) {
    if (fuse != null) {
      COUNTS.clear();
    }
    fuse = next;
  }

  static Map<String, Long> counts() {
    Map<String, Long> sums = new TreeMap<>();
    COUNTS.forEach((place, count) -> sums.put(place, count.sum()));
    return sums;
  }
}
