package io.slaq.bridge;

import java.util.Set;
import java.util.TreeSet;

/** Names of job pools, "slaq-1", "slaq-2" …: the lowest that is free, for Spark's UI keeps every name for ever. */
final class Names {
  private static final String PREFIX = "slaq-";

  private final TreeSet<Integer> free = new TreeSet<>();
  private int made;

  String take(Set<String> used) {
    String name;
    do {
      name = PREFIX + (free.isEmpty() ? ++made : free.pollFirst());
    } while (used.contains(name));
    return name;
  }

  /** Names that were not taken from here are none of ours. */
  void giveBack(String name) {
    if (name.matches(PREFIX + "[1-9][0-9]{0,8}")) {
      int number = Integer.parseInt(name.substring(PREFIX.length()));
      if (number <= made) {
        free.add(number);
      }
    }
  }
}
