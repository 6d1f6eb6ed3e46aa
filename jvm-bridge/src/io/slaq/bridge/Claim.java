package io.slaq.bridge;

/**
 * What one pool wants in a round of offers, the key by which it is served, and the quotas it is given.
 *
 * <p>Knows nothing of Spark. Guarded by the scheduler's lock.
 */
final class Claim implements Comparable<Claim> {
  /** The next task: is due to the pool; has no limit; may run on a slot that is lent; may not start. */
  enum Rank { OWED, FREE, LENT, NONE }

  private static final double RUNS_SOMETHING = 1e10;

  final Share share;
  private final int minShare;
  private final int weight;
  private final long number;
  /** The user whose pool it is. */
  Tenants.Tenant tenant;
  Rank rank;
  private double ofUser;
  private int handedBefore;
  private double place;
  private double order;
  /** Tasks that could start, of which the next {@code unit} only together (1 but for barrier stages). */
  int wanted;
  int unit;
  private int paid;
  private int lent;
  /** May use what is left when all with quotas have been asked. */
  boolean reserve;
  private long waitingSince;
  private boolean waits;

  Claim(Share share, int minShare, int weight, long number) {
    this.share = share;
    this.minShare = minShare;
    this.weight = Math.max(weight, 1);
    this.number = number;
  }

  /** A new round of offers. */
  void begin(int tasks, int together) {
    wanted = tasks;
    unit = together;
    paid = 0;
    lent = 0;
    reserve = false;
  }

  /** Whether it may start one task though the total is used up: it was left waiting for a lease. */
  boolean overdraws() {
    return rank == Rank.OWED && !share.limited && waits;
  }

  int quota() {
    return paid + lent;
  }

  /** Hands out quotas of the present rank. */
  void give(int tasks) {
    if (rank == Rank.LENT) {
      lent += tasks;
    } else {
      paid += tasks;
    }
    wanted -= tasks;
    unit = 1;
    tenant.handed += tasks;
  }

  /** A task starts; true if its slot is lent. Without a quota it pays as its rank says, and is charged if in doubt. */
  boolean take() {
    if (paid > 0) {
      paid--;
      return false;
    }
    boolean borrows = lent > 0 || (reserve && rank == Rank.LENT);
    lent = Math.max(0, lent - 1);
    // The total left it something, so it waits anew.
    waits &= !borrows;
    return borrows;
  }

  /**
   * Sets the key of the pool's next task. Jobs with a grant: the order the scheduler gave, then the latest in proportion
   * to their grants. Jobs without: Spark's fair order, first tasks and minShare before everything. Slots are lent in the
   * order the scheduler gave; in the same place, to those that run nothing first: two tasks of one job side by side take
   * more CPU time than those of two jobs.
   */
  void rate(long now, Total total, boolean strict) {
    int tasks = share.running() + quota();
    boolean bounded = !strict && total.inForce(now);
    place = share.standby;
    ofUser = share.limited ? tenant.order(now) : 0;
    handedBefore = tenant.handed;
    if (share.limited) {
      order = -share.creditSeconds(now);
      rank = share.bears(now, tasks) ? Rank.OWED : Rank.LENT;
    } else if (!bounded) {
      boolean needy = tasks < minShare;
      order = needy ? (double) tasks / minShare - 1 : (double) tasks / weight;
      rank = needy || tasks == 0 ? Rank.OWED : Rank.FREE;
      place = rank == Rank.OWED ? -1 : place;
    } else {
      rank = tasks == 0 && waits && now - opensAt(total) >= 0 ? Rank.OWED : Rank.LENT;
    }
    if (rank == Rank.LENT) {
      rank = strict || !share.mayBorrow(tasks) ? Rank.NONE : rank;
      order = share.borrowedPerCore(now) + (tasks > 0 ? RUNS_SOMETHING : 0);
    }
  }

  /** Whether its user was given quotas since it was rated. */
  boolean outdated() {
    return handedBefore != tenant.handed;
  }

  /**
   * Notes since when a job without a grant has found nothing left of the total. Whoever shares it out may not know of the
   * job: after a lease it starts one task at a time, for nothing else would ever open its pool.
   */
  void observe(long now, boolean bounded) {
    if (share.limited || !bounded) {
      waits = false;
    } else if (!waits && wanted > 0 && share.running() == 0) {
      waits = true;
      waitingSince = now;
    }
  }

  /** When its rank may change though no task ends. */
  long changesAt(long now, Total total) {
    return waits && share.running() == 0 ? opensAt(total) : share.changesAt(now);
  }

  private long opensAt(Total total) {
    return waitingSince + total.patienceNanos();
  }

  @Override
  public int compareTo(Claim other) {
    int byUser = Double.compare(ofUser, other.ofUser);
    int byRank = byUser != 0 ? byUser : rank.compareTo(other.rank);
    int byPlace = byRank != 0 ? byRank : Double.compare(place, other.place);
    int byOrder = byPlace != 0 ? byPlace : Double.compare(order, other.order);
    return byOrder != 0 ? byOrder : Long.compare(number, other.number);
  }
}
