package io.slaq.bridge;

/**
 * The cores an application may use in all while it shares the cluster with others; has a lease, as grants have.
 *
 * <p>A fraction of a core is a task that runs part of the time, as for jobs. Guarded by the scheduler's lock.
 */
final class Total {
  private static final double BURST_SECONDS = 0.1;
  /** Tasks that outlast a cut, or run on executors that are going, are not held against the application for longer. */
  private static final double DEBT_SECONDS = 1;

  private final double coresPerTask;
  private final Bucket bucket;
  private boolean limited;
  private long leaseEnds;
  private long leaseNanos;

  Total(double coresPerTask, long now) {
    this.coresPerTask = coresPerTask;
    this.bucket = new Bucket(coresPerTask, DEBT_SECONDS, now);
  }

  /** NaN: every slot. */
  void grant(long now, double cores, long newLeaseEnds) {
    boolean before = inForce(now);
    limited = !Double.isNaN(cores);
    leaseEnds = newLeaseEnds;
    leaseNanos = newLeaseEnds - now;
    bucket.setRate(now, limited ? cores : 0, BURST_SECONDS);
    if (!before) {
      bucket.clear();
    }
  }

  boolean inForce(long now) {
    return limited && now - leaseEnds < 0;
  }

  /** How many tasks may start beside those that run. */
  int room(long now, int running) {
    return bucket.bears(now, running) ? (int) Math.ceil(bucket.rate() / coresPerTask - 1e-6) - running : 0;
  }

  /** When there may be room though no task ends. */
  long changesAt(long now) {
    return Math.min(bucket.refillsAt(now), leaseEnds);
  }

  /** How long a job without a grant waits for others to leave it something: as long as silence would be endured. */
  long patienceNanos() {
    return leaseNanos;
  }

  void ran(long now, int tasks) {
    bucket.draw(now, tasks * coresPerTask);
  }
}
