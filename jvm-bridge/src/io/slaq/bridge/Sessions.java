package io.slaq.bridge;

import io.slaq.probe.Session;
import java.util.Properties;
import org.apache.spark.SparkConf;
import org.apache.spark.sql.internal.SQLConf;

/** What the Spark session of a thread says of the fits that it starts: keys that its user may set while it lives. */
final class Sessions {
  private static final String PREFIX = "spark.slaq.";

  private Sessions() {}

  static Session of(Properties properties, SparkConf conf) {
    String user = Owner.of(properties, conf.get(Owner.USER, null));
    return new Session(user, text("name", conf), text("group", conf), number("weight", conf), number("targetLoss", conf));
  }

  /** What the session sets itself; the application's own configuration is read elsewhere. */
  private static String text(String key, SparkConf conf) {
    String name = PREFIX + key;
    String set = SQLConf.get().getConfString(name, null);
    return set == null || set.isEmpty() || set.equals(conf.get(name, null)) ? null : set;
  }

  /** Null for what is no number: a slip in a setting must not cost the fit. */
  private static Double number(String key, SparkConf conf) {
    String set = text(key, conf);
    try {
      Double value = set == null ? null : Double.valueOf(set);
      return value == null || value.isNaN() || value.isInfinite() ? null : value;
    } catch (NumberFormatException e) {
      Faults.record("session setting " + PREFIX + key, e);
      return null;
    }
  }
}
