package io.slaq.sidecar;

import io.slaq.bridge.Bridge;
import java.util.ArrayDeque;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.spark.SparkContext;
import scala.Tuple2;

/**
 * Where the sidecar meets the driver: it takes the bridge and the mail from here and leaves its board here.
 *
 * <p>Mail are events of jobs that report their own losses from the application's Python process; the board is what the
 * sidecar knows of all jobs. Both are JSON that nobody reads in between.
 */
public final class Desk {
  /** Mail kept while no sidecar fetches it; more than this means that there is none. */
  private static final int MAIL_KEPT = 10_000;

  private final SparkContext sc;
  private final ArrayDeque<String> mail = new ArrayDeque<>();
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

  /** For the application: leave events (a JSON array, or nothing) and read the board. */
  public synchronized String post(String events) {
    asked = true;
    if (!events.isEmpty()) {
      mail.addLast(events);
      if (mail.size() > MAIL_KEPT) {
        mail.removeFirst();
      }
    }
    return board;
  }

  /**
   * For the sidecar: renew the board (nothing: leave it) and take all mail, as JSON that also tells whether somebody has
   * asked for the board since.
   */
  public synchronized String exchange(String newBoard) {
    if (!newBoard.isEmpty()) {
      board = newBoard;
    }
    String taken = "{\"asked\":" + asked + ",\"mail\":[" + String.join(",", mail) + "]}";
    mail.clear();
    asked = false;
    return taken;
  }
}
