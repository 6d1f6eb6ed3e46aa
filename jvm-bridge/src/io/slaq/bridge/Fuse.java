package io.slaq.bridge;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the bridge out of Spark after three faults in one place.
 *
 * <p>Faults are found in callbacks, mostly under the scheduler's lock, so the removal has a thread of its own.
 */
final class Fuse {
  private static final Logger LOG = LoggerFactory.getLogger("io.slaq.bridge");
  private static final int FAULTS_BORNE = 3;

  private final Map<String, AtomicInteger> faults = new ConcurrentHashMap<>();
  private final AtomicBoolean blown = new AtomicBoolean();

  void fault(String place) {
    int count = faults.computeIfAbsent(place, key -> new AtomicInteger()).incrementAndGet();
    if (count >= FAULTS_BORNE && blown.compareAndSet(false, true)) {
      Thread thread = new Thread(() -> takeOut(place), "slaq-fuse");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private static void takeOut(String place) {
    try {
      Bridge bridge = Bridge.current();
      if (bridge != null) {
        bridge.close();
      }
      LOG.warn("SLAQ failed {} times in '{}' and has taken itself out; Spark's own pools are back.", FAULTS_BORNE, place);
    } catch (Throwable t) {
      LOG.warn("SLAQ failed {} times in '{}' and could not take itself out.", FAULTS_BORNE, place, t);
    }
  }
}
