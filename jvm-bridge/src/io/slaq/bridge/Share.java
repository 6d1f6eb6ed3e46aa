package io.slaq.bridge;

import java.util.ArrayDeque;

/**
 * What one job may hold and what it holds: grant, lease, paid and borrowed tasks, pauses.
 *
 * <p>Knows nothing of Spark. Guarded by the scheduler's lock. A job without a grant is unlimited.
 */
final class Share {
  /** Loans count less as they get older, so that a new job need not first borrow as much as an old one ever did. */
  private static final double LOAN_MEMORY_SECONDS = 1.0;
  /** Credit kept when a grant shrinks: enough for a smooth hand-over, too little to outlast the change. */
  private static final double KEPT_CREDIT_SECONDS = 0.05;

  /** A loan this short harms nobody: keeping the slot idle, or giving it to whoever has shorter tasks, costs more. */
  private static final long MOMENT_NANOS = 200_000_000L;
  /** Of a slot; whoever is granted less comes too seldom to be kept in mind. */
  private static final double LEAST_AWAITED = 0.5;
  /** In tasks: sums of shares are not exact. */
  private static final double ROUNDING = 1e-6;

  static final int NO_CAP = Integer.MAX_VALUE;
  /** The place of a job that is not on standby. */
  static final int LAST = Integer.MAX_VALUE;
  /** Of a task, in nanoseconds: as good as forever. */
  static final long UNKNOWN_LENGTH = Long.MAX_VALUE / 4;

  private final double coresPerTask;
  private final Bucket bucket;
  /** One entry per running task, oldest first, true if borrowed. Tasks of a stage end about as they started. */
  private final ArrayDeque<Boolean> launches = new ArrayDeque<>();
  private int borrowed;
  private boolean limited;
  private int cap = NO_CAP;
  private int standby = LAST;
  private long leaseEnds;
  private long countedAt;
  private double heldSeconds;
  private double borrowedSeconds;
  private double borrowedLately;
  private long tasksEnded;
  private final Pause pause;

  Share(double coresPerTask, long now) {
    this.coresPerTask = coresPerTask;
    this.bucket = new Bucket(coresPerTask, now);
    this.countedAt = now;
    this.pause = new Pause(now);
  }

  /** Holds the job to a rate until the lease ends; called again with the same values it renews the lease. */
  void grant(long now, double cores, int newCap, double burstSeconds, long newLeaseEnds) {
    boolean shrinks = cores < bucket.rate();
    bucket.setRate(now, cores, burstSeconds);
    if (!limited) {
      bucket.clear();
    }
    if (shrinks) {
      bucket.clampCredit(KEPT_CREDIT_SECONDS);
    }
    limited = true;
    cap = newCap;
    leaseEnds = newLeaseEnds;
  }

  void release(long now) {
    bucket.setRate(now, 0, 1);
    limited = false;
    cap = NO_CAP;
    standby = LAST;
  }

  /** Opens the job if its lease has run out; true if that happened just now. */
  boolean expire(long now) {
    if (!limited || now - leaseEnds < 0) {
      return false;
    }
    release(now);
    return true;
  }

  /** Whether the next task may start on the job's own account. */
  boolean hasRoom(long now) {
    return !limited || (launches.size() < cap && bucket.hasRoom(now));
  }

  /** Whether the next task may start on cores that others leave idle. No cores and no place on standby: it is held. */
  boolean mayBorrow() {
    boolean held = limited && bucket.rate() == 0 && standby == LAST;
    return !held && launches.size() < cap;
  }

  /** When to look again, if nothing else happens before: the bucket's refill or the end of the lease. */
  long roomAt(long now) {
    if (!limited) {
      return Long.MAX_VALUE;
    }
    long refill = launches.size() < cap ? bucket.roomAt(now) : Long.MAX_VALUE;
    return Math.min(refill, leaseEnds);
  }

  void started(long now, int tasks, boolean borrowing) {
    count(now);
    pause.active(now);
    for (int i = 0; i < tasks; i++) {
      launches.addLast(borrowing);
    }
    if (borrowing) {
      borrowed += tasks;
    } else {
      bucket.draw(now, tasks * coresPerTask);
    }
  }

  void ended(long now, int tasks) {
    count(now);
    pause.active(now);
    int returned = 0;
    int paid = 0;
    for (int i = 0; i < tasks && !launches.isEmpty(); i++) {
      if (launches.removeFirst()) {
        returned++;
      } else {
        paid++;
      }
    }
    borrowed -= returned;
    tasksEnded += returned + paid;
    bucket.draw(now, -paid * coresPerTask);
  }

  /** Called before the tasks of a new stage are known, if the job had none left. */
  void stageAfterPause(long now) {
    if (launches.isEmpty()) {
      pause.ended(now);
    }
  }

  /** Whether the job will soon use cores of its own: asked when it has been offered them and had no task for them. */
  boolean awaited(long now) {
    return limited && bucket.rate() >= LEAST_AWAITED * coresPerTask && now - pause.expectedUntil() < 0 && hasRoom(now);
  }

  long awaitedUntil() {
    return pause.expectedUntil();
  }

  /** How many tasks more than now the job's cores bear. */
  int claimed() {
    return Math.max(0, (int) Math.ceil(bucket.rate() / coresPerTask - ROUNDING) - launches.size());
  }

  /** How long a loan of this job's slots may last: a moment, or as long as it rests and runs a task itself. */
  long shortLoanNanos() {
    return Math.max(MOMENT_NANOS, pause.usualNanos() + taskNanos());
  }

  /** How long a task of this job takes, on average. */
  long taskNanos() {
    return tasksEnded == 0 ? UNKNOWN_LENGTH : (long) (heldSeconds / coresPerTask / tasksEnded * 1e9);
  }

  /** The job's place among those that take what is left idle, the lowest first. */
  void setStandby(int place) {
    standby = place;
  }

  int standby() {
    return standby;
  }

  /** Borrowers in the same place are served in this order: the least borrowed of late, relative to the grant. */
  double borrowedPerCore(long now) {
    count(now);
    return borrowedLately / (limited ? Math.max(bucket.rate(), 1e-3) : 1);
  }

  double creditSeconds() {
    return bucket.creditSeconds();
  }

  boolean limited() {
    return limited;
  }

  double cores() {
    return limited ? bucket.rate() : Double.NaN;
  }

  double tokens() {
    return bucket.tokens();
  }

  int cap() {
    return cap;
  }

  int running() {
    return launches.size();
  }

  int borrowed() {
    return borrowed;
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
    return pause.seconds();
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
