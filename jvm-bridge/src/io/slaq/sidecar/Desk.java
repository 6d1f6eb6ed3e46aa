package io.slaq.sidecar;

import io.slaq.bridge.Bridge;
import io.slaq.probe.Json;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import scala.Tuple2;

/**
 * Where the sidecar meets the driver: it finds the bridge and the application's letters here and leaves its board here.
 *
 * <p>A letter holds events of jobs that report their own losses from the application's Python process, and is numbered by
 * the last of them. It is kept until the sidecar acknowledges it. The board is what the sidecar knows of all jobs. Both
 * are JSON that is not read here; letters travel as texts, so that one that is broken does not spoil the others.
 */
public final class Desk {
  /** Letters kept until they are acknowledged; more than this means that there is no sidecar. */
  private static final int LETTERS_KEPT = 10_000;

  private final SparkContext sc;
  private final ArrayDeque<Letter> letters = new ArrayDeque<>();
  private long latest;
  private long dropped;
  private String board = "";
  private boolean asked;

  Desk(SparkContext sc) {
    this.sc = sc;
  }

  public Bridge bridge() {
    return Bridge.current();
  }

  public SparkContext context() {
    return sc;
  }

  /** The application's settings for SLAQ, and the names under which it is known. */
  public Map<String, String> settings() {
    Map<String, String> found = new LinkedHashMap<>();
    for (Tuple2<String, String> entry : sc.conf().getAll()) {
      if (entry._1().startsWith("spark.slaq.")) {
        found.put(entry._1(), entry._2());
      }
    }
    found.put("spark.app.name", sc.appName());
    found.put("spark.app.id", sc.applicationId());
    found.put("user", sc.sparkUser());
    return found;
  }

  /**
   * For the application: leave events (a JSON array, or nothing) up to number {@code last}, and read the board. A letter
   * that comes a second time, because its sender did not learn that it had arrived, changes nothing.
   */
  public synchronized String post(long last, String events) {
    asked = true;
    if (!events.isEmpty() && last > latest) {
      latest = last;
      letters.addLast(new Letter(last, events));
      if (letters.size() > LETTERS_KEPT) {
        letters.removeFirst();
        dropped++;
      }
    }
    return board;
  }

  /**
   * For the sidecar: renew the board (nothing: leave it), forget the letters up to number {@code acked}, and read the
   * others, as JSON that also tells whether the application has asked for the board since the last call.
   */
  public synchronized String exchange(String newBoard, long acked) {
    if (!newBoard.isEmpty()) {
      board = newBoard;
    }
    while (!letters.isEmpty() && letters.peekFirst().last <= acked) {
      letters.removeFirst();
    }
    Json found = new Json().open().field("asked", asked).field("dropped", dropped).key("letters").openArray();
    for (Letter letter : letters) {
      found.item(letter.events);
    }
    asked = false;
    return found.closeArray().close().toString();
  }

  private static final class Letter {
    final long last;
    final String events;

    Letter(long last, String events) {
      this.last = last;
      this.events = events;
    }
  }
}
