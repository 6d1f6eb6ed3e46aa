package io.slaq.bridge;

import java.util.LinkedHashMap;
import java.util.Map;

/** One line of grants: the cores of a job, the most tasks at once, seconds it may save up, its place on standby. */
final class Grant {
  /** The place of a job to which no idle slot is lent. */
  private static final int NEVER = -1;

  final double cores;
  final int cap;
  final double burstSeconds;
  final int standby;
  /** False: no idle slot is lent to it. */
  final boolean borrows;

  private Grant(double cores, int cap, double burstSeconds, int standby) {
    this.cores = cores;
    this.cap = cap;
    this.burstSeconds = burstSeconds;
    this.standby = standby == NEVER ? Share.LAST : standby;
    this.borrows = standby != NEVER;
  }

  /**
   * Grants by job: lines of job, cores, cap (0: none), burst seconds and place, separated by tabs. "open" for the cores
   * lifts the limit and is a null here. All lines are read before the first is applied; a bad one is named.
   */
  static Map<String, Grant> read(String lines) {
    Map<String, Grant> grants = new LinkedHashMap<>();
    for (String line : lines.split("\n")) {
      String[] cells = line.split("\t", -1);
      if (line.isEmpty()) {
        continue;
      }
      if (cells.length == 2 && cells[1].equals("open")) {
        grants.put(cells[0], null);
        continue;
      }
      try {
        if (cells.length != 5) {
          throw new IllegalArgumentException(cells.length + " cells where 5 are due");
        }
        double cores = number(cells[1], 0);
        int cap = Integer.parseInt(cells[2]);
        if (cap < 0) {
          throw new IllegalArgumentException("a cap below 0");
        }
        grants.put(cells[0],
            new Grant(cores, cap == 0 ? Share.NO_CAP : cap, number(cells[3], 1e-6), Integer.parseInt(cells[4])));
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException("no grant is applied, for the line '" + line + "' is none: " + e.getMessage());
      }
    }
    return grants;
  }

  private static double number(String text, double least) {
    double value = Double.parseDouble(text);
    if (!(value >= least && value < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(text + " is not a number of " + least + " or more");
    }
    return value;
  }
}
