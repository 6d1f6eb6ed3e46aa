package io.slaq.bridge;

import java.io.UnsupportedEncodingException;
import java.net.URLEncoder;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * For whom a thread works, where one driver serves several users: a Spark Connect server, or a program that sets the
 * local property spark.slaq.user in the threads of its users.
 *
 * <p>A Connect server tags the jobs of every operation. Users choose their names, which may look like the rest of a tag;
 * what the server adds stands at its end. A client's own tags begin otherwise. A client may set properties, by its
 * session's configuration, so the tag goes before them.
 */
final class Owner {
  static final String TAGS = "spark.job.tags";
  static final String USER = "spark.slaq.user";
  private static final String UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}";
  private static final Pattern OPERATION =
      Pattern.compile("SparkConnect_OperationTag_User_(.*)_Session_" + UUID + "_Operation_" + UUID, Pattern.DOTALL);
  private static final int LONGEST = 200;

  private Owner() {}

  /** The user, or null for the driver's own, whose name is given. */
  static String of(Properties properties, String own) {
    if (properties == null) {
      return null;
    }
    String found = ofTags(properties.getProperty(TAGS));
    String named = found != null ? found : properties.getProperty(USER);
    if (named == null || named.trim().isEmpty() || named.equals(own)) {
      return null;
    }
    return named.length() <= LONGEST ? named : named.substring(0, LONGEST);
  }

  /** The user in the tags of a Connect server's operation; null if there is none, or if two contradict each other. */
  static String ofTags(String tags) {
    String user = null;
    if (tags == null || tags.isEmpty()) {
      return null;
    }
    for (String tag : tags.split(",")) {
      Matcher operation = OPERATION.matcher(tag);
      if (operation.matches()) {
        if (user != null && !user.equals(operation.group(1))) {
          return null;
        }
        user = operation.group(1);
      }
    }
    return user;
  }

  /** The pool for work of a user that is no fit. Nobody can make it another user's, whatever they call themselves. */
  static String pool(String user, String home) {
    String whole = "user/" + encoded(user);
    return home == null || home.equals(Pools.DEFAULT) ? whole : whole + "/" + encoded(home);
  }

  private static String encoded(String name) {
    try {
      return URLEncoder.encode(name, "UTF-8");
    } catch (UnsupportedEncodingException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
