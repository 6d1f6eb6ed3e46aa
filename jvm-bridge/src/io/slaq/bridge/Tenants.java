package io.slaq.bridge;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;

/**
 * The users of one driver, and who of them is late where users share before their jobs do.
 *
 * <p>A user's cores are those of all their jobs. Each user has an account of ∫ (cores − running tasks) dt that counts
 * tasks on lent slots too: a job that pauses between its stages leaves its slots to others, and its user gets them back
 * soon after. Guarded by the scheduler's lock.
 */
final class Tenants {
  /** The driver's own user. */
  static final String OWN = "";
  /** What is left unused for longer is not made up for, and what was overdrawn is forgiven beyond this. */
  private static final double MEMORY_SECONDS = 2.0;
  /** Core-seconds that a task is expected to take when several slots are handed out at once. */
  private static final double TASK_CORE_SECONDS = 0.1;

  /** Whether users come before jobs. */
  boolean first;
  private final double coresPerTask;
  private final Map<String, Tenant> byUser = new HashMap<>();

  Tenants(double coresPerTask) {
    this.coresPerTask = coresPerTask;
  }

  Tenant of(String user, long now) {
    return byUser.computeIfAbsent(user, name -> new Tenant(now));
  }

  /** After grants have changed: what the jobs of each user may hold together; users without a pool are forgotten. */
  void settle(long now, Collection<JobPool> pools) {
    Map<Tenant, Double> cores = new HashMap<>();
    for (JobPool pool : pools) {
      cores.merge(pool.claim.tenant, pool.share().limited ? pool.share().cores() : 0.0, Double::sum);
    }
    byUser.values().removeIf(tenant -> !cores.containsKey(tenant));
    cores.forEach((tenant, sum) -> tenant.bucket.setRate(now, sum, MEMORY_SECONDS));
  }

  /** A round of offers begins. */
  void begin() {
    byUser.values().forEach(tenant -> tenant.handed = 0);
  }

  /** One user's account. */
  final class Tenant {
    private final Bucket bucket;
    /** Quotas of this round. */
    int handed;

    private Tenant(long now) {
      bucket = new Bucket(coresPerTask, MEMORY_SECONDS, now);
    }

    void ran(long now, int tasks) {
      bucket.draw(now, tasks * coresPerTask);
    }

    /** The smaller, the later the user is; 0 for everybody where users do not come first. */
    double order(long now) {
      double rate = bucket.rate();
      return first && rate > 0 ? (handed * TASK_CORE_SECONDS * coresPerTask - bucket.tokens(now)) / rate : 0;
    }
  }
}
