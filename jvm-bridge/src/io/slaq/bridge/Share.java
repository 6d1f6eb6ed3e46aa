package io.slaq.bridge;

import java.util.ArrayDeque;

/**
 * What one job may hold and what it holds: grant, lease, tasks that it pays for and tasks on slots that were lent to it.
 *
 * <p>Knows nothing of Spark. Guarded by the scheduler's lock. A job without a grant is unlimited.
 */
final class Share {
  /** Loans count less as they get older, so that a new job need not first borrow as much as an old one ever did. */
  private static final double LOAN_MEMORY_SECONDS = 1.0;
  /** A task up to this long is charged in full; what ran when a grant was cut does not bar a job for minutes. */
  private static final double DEBT_SECONDS = 10;

  static final int NO_CAP = Integer.MAX_VALUE;
  /** The place of a job that is not on standby. */
  static final int LAST = Integer.MAX_VALUE;

  private final double coresPerTask;
  private final Bucket bucket;
  /** One entry per running task, oldest first, true if its slot was lent. Tasks of a stage end about as they started. */
  private final ArrayDeque<Boolean> launches = new ArrayDeque<>();
  int borrowed;
  boolean limited;
  private int cap = NO_CAP;
  /** The job's place in the order that the scheduler gave, the lowest first. */
  int standby = LAST;
  private boolean borrows = true;
  private long leaseEnds;
  private long countedAt;
  private double heldSeconds;
  private double borrowedSeconds;
  private double borrowedLately;
  /** When one of its tasks last started or ended. */
  private long activeAt;
  private long pausedNanos;

  Share(double coresPerTask, long now) {
    this.coresPerTask = coresPerTask;
    this.bucket = new Bucket(coresPerTask, DEBT_SECONDS, now);
    this.activeAt = now;
    this.countedAt = now;
  }

  /** Holds the job to a rate until the lease ends; called again with the same values it renews the lease. */
  void grant(long now, Grant grant, long newLeaseEnds) {
    bucket.setRate(now, grant.cores, grant.burstSeconds);
    if (!limited) {
      bucket.clear();
    }
    limited = true;
    cap = grant.cap;
    standby = grant.standby;
    borrows = grant.borrows;
    leaseEnds = newLeaseEnds;
  }

  void release(long now) {
    bucket.setRate(now, 0, 1);
    limited = false;
    cap = NO_CAP;
    standby = LAST;
    borrows = true;
  }

  /** Opens the job if its lease has run out; true if that happened just now. */
  boolean expire(long now) {
    if (!limited || now - leaseEnds < 0) {
      return false;
    }
    release(now);
    return true;
  }

  /** Whether the grant bears one more task beside so many. */
  boolean bears(long now, int tasks) {
    return tasks < cap && bucket.bears(now, tasks);
  }

  /** Whether a slot may be lent to the job beside so many tasks. Neither cores nor a place on standby: it is held. */
  boolean mayBorrow(int tasks) {
    boolean held = limited && bucket.rate() == 0 && standby == LAST;
    return borrows && !held && tasks < cap;
  }

  /** When the answers above may change though no task ends: tokens refill, or the lease ends. */
  long changesAt(long now) {
    if (!limited) {
      return Long.MAX_VALUE;
    }
    long refill = launches.size() < cap ? bucket.refillsAt(now) : Long.MAX_VALUE;
    return Math.min(refill, leaseEnds);
  }

  void started(long now, boolean lent) {
    count(now);
    activeAt = now;
    launches.addLast(lent);
    if (lent) {
      borrowed++;
    } else {
      bucket.draw(now, coresPerTask);
    }
  }

  void ended(long now, int tasks) {
    count(now);
    activeAt = now;
    int paid = 0;
    for (int i = 0; i < tasks && !launches.isEmpty(); i++) {
      if (launches.removeFirst()) {
        borrowed--;
      } else {
        paid++;
      }
    }
    bucket.draw(now, -paid * coresPerTask);
  }

  /** A stage comes to a job that had none. */
  void stageAfterRest(long now) {
    if (launches.isEmpty()) {
      pausedNanos += now - activeAt;
    }
  }

  /** The order among borrowers in the same place: the least borrowed of late, relative to the grant. */
  double borrowedPerCore(long now) {
    count(now);
    return borrowedLately / (limited ? Math.max(bucket.rate(), 1e-3) : 1);
  }

  double creditSeconds(long now) {
    return bucket.creditSeconds(now);
  }

  double cores() {
    return limited ? bucket.rate() : Double.NaN;
  }

  double tokens(long now) {
    return bucket.tokens(now);
  }

  int running() {
    return launches.size();
  }

  double leaseSeconds(long now) {
    return limited ? (leaseEnds - now) * 1e-9 : Double.NaN;
  }

  double heldSeconds(long now) {
    count(now);
    return heldSeconds;
  }

  double borrowedSeconds(long now) {
    count(now);
    return borrowedSeconds;
  }

  /** How long the job's driver has had no stage to run, in all. */
  double pausedSeconds() {
    return pausedNanos * 1e-9;
  }

  private void count(long now) {
    double seconds = (now - countedAt) * 1e-9;
    double coreSeconds = seconds * coresPerTask;
    heldSeconds += coreSeconds * launches.size();
    borrowedSeconds += coreSeconds * borrowed;
    borrowedLately = borrowedLately * Math.exp(-seconds / LOAN_MEMORY_SECONDS) + coreSeconds * borrowed;
    countedAt = now;
  }
}
