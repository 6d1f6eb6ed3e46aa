package io.slaq.probe;

import org.apache.xbean.asm9.tree.MethodNode;

/** One place in Spark's code and the call put there. */
final class Hook {
  /** Changes a method if it is the one meant, and says at how many places it did. */
  interface Patch {
    int apply(MethodNode method);
  }

  final String name;
  final String target;
  final Patch patch;
  private final int places;

  /**
   * @param name for counters and warnings
   * @param target internal name of the class
   * @param places how many places are expected; any other number means that the class has changed shape
   */
  Hook(String name, String target, int places, Patch patch) {
    this.name = name;
    this.target = target;
    this.places = places;
    this.patch = patch;
  }

  boolean asExpected(int found) {
    return found == places;
  }
}
