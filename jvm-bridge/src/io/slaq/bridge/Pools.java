package io.slaq.bridge;

import java.util.ArrayList;
import java.util.Collection;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.SchedulingMode;
import org.apache.spark.scheduler.TaskSetManager;
import scala.Enumeration;
import scala.collection.mutable.ArrayBuffer;

/**
 * All pools of one driver: found by job and by name, made and retired, asked in every round of offers.
 *
 * <p>Every method is called under the scheduler's lock (the object given as {@code lock}). A job that was announced has an
 * id of its own; its pool has one of a few names that are used again, because Spark's UI forgets none. Other pools are
 * known by the name that Spark's user gave them.
 */
final class Pools {
  static final String DEFAULT = "default";
  /** How long the pool of a job that nobody announced outlives its last stage. */
  static final long LINGER_NANOS = 60_000_000_000L;
  /** Spark launches what a round gave right after it; then it can be seen whether slots were left. */
  private static final long AFTER_ROUND_NANOS = 1_000_000L;

  final Object lock;
  final Waker waker;
  final Quotas quotas;
  private final Pool root;
  private final Usages usages;
  private final double coresPerTask;
  private final Map<String, JobPool> byJob = new LinkedHashMap<>();
  private final Map<String, JobPool> byName = new LinkedHashMap<>();
  private final Names names = new Names();
  /** Rounds of changes among the executors. */
  long executorsSeen;
  private long poolsMade;
  private long sweptAt = System.nanoTime();
  volatile long rounds;
  volatile long leasesExpired;
  private boolean revived;
  private boolean revivedRound;

  Pools(Object lock, Pool root, Waker waker, Quotas quotas, Usages usages, double coresPerTask) {
    this.lock = lock;
    this.root = root;
    this.waker = waker;
    this.quotas = quotas;
    this.usages = usages;
    this.coresPerTask = coresPerTask;
    waker.setCheck(this::worthReviving);
  }

  /** The pool of an announced job, made if need be, with weight and minShare of the configured pool it starts in. */
  JobPool open(String job, String startsIn) {
    JobPool pool = byJob.get(job);
    if (pool != null) {
      return pool;
    }
    JobPool configured = startsIn == null ? null : byName.get(startsIn);
    boolean inherits = configured != null && configured.permanent;
    int minShare = inherits ? configured.minShare() : 0;
    int weight = inherits ? configured.weight() : 1;
    return add(job, names.take(byName.keySet()), SchedulingMode.FIFO(), minShare, weight, false);
  }

  /** The pool of that name; made, as Spark makes one, for a name nobody has announced. */
  JobPool find(String name) {
    JobPool pool = byName.get(name);
    return pool != null ? pool : add(name, name, SchedulingMode.FIFO(), 0, 1, false);
  }

  JobPool add(String job, String name, Enumeration.Value mode, int minShare, int weight, boolean permanent) {
    Claim claim = new Claim(new Share(coresPerTask, System.nanoTime()), minShare, weight, poolsMade++);
    claim.tenant = quotas.tenants.of(Tenants.OWN, System.nanoTime());
    JobPool pool = new JobPool(this, job, name, mode, permanent, minShare, weight, claim);
    byJob.put(job, pool);
    byName.put(name, pool);
    root.addSchedulable(pool);
    return pool;
  }

  /** A new pool is that of a user. Later it cannot change hands: its tasks are on the user's account. */
  void give(JobPool pool, String user) {
    if (user != null && pool.usage().setUser(user)) {
      pool.claim.tenant = quotas.tenants.of(user, System.nanoTime());
    }
  }

  JobPool ofJob(String job) {
    return byJob.get(job);
  }

  JobPool named(String name) {
    return byName.get(name);
  }

  Collection<JobPool> all() {
    return byJob.values();
  }

  /** Job pools go with their job, or with the last task that outlives it; from time to time those that lingered go. */
  void retireIfUnused(JobPool pool, long now) {
    retire(pool, now);
    if (now - sweptAt >= LINGER_NANOS) {
      sweptAt = now;
      new ArrayList<>(byJob.values()).forEach(other -> retire(other, now));
    }
  }

  private void retire(JobPool pool, long now) {
    if (pool.unused(now) && byJob.remove(pool.job, pool)) {
      byName.remove(pool.name(), pool);
      names.giveBack(pool.name());
      root.removeSchedulable(pool);
      Share share = pool.share();
      pool.usage().close(now, share.heldSeconds(now), share.borrowedSeconds(now), share.pausedSeconds());
      usages.closed(pool.usage());
    }
  }

  /** Takes all pools out; a fit or a task that ends later finds nothing of its own here, and leaves Spark's pools alone. */
  List<JobPool> removeAll() {
    List<JobPool> removed = new ArrayList<>(byJob.values());
    byJob.clear();
    byName.clear();
    removed.forEach(root::removeSchedulable);
    return removed;
  }

  /** A round of offers: hands out quotas and returns the task sets of those that have some, in order. */
  ArrayBuffer<TaskSetManager> order(long now) {
    rounds++;
    revivedRound = revived;
    revived = false;
    boolean bounded = !quotas.strict && quotas.total.inForce(now);
    List<Claim> claims = new ArrayList<>();
    Map<Claim, JobPool> owners = new IdentityHashMap<>();
    for (JobPool pool : byJob.values()) {
      endLease(pool, now);
      if (!pool.isEmpty() && pool.observe(now, bounded).wanted > 0) {
        claims.add(pool.claim);
        owners.put(pool.claim, pool);
      }
    }
    ArrayBuffer<TaskSetManager> queue = new ArrayBuffer<>();
    for (Claim claim : quotas.handOut(now, claims)) {
      // Without the gate a reserve would take what was meant for those before it.
      if (!claim.reserve || Gate.active()) {
        ScalaBuffers.appendAll(queue, owners.get(claim).taskSets());
      }
    }
    waker.wakeAt(now, quotas.changesAt(now, claims));
    if (quotas.doubtful()) {
      waker.checkAt(now, now + AFTER_ROUND_NANOS);
    }
    return queue;
  }

  void endLease(JobPool pool, long now) {
    if (pool.share().expire(now)) {
      leasesExpired++;
    }
  }

  /** Every task set; used when our own answer failed. */
  ArrayBuffer<TaskSetManager> everything() {
    quotas.open();
    ArrayBuffer<TaskSetManager> queue = new ArrayBuffer<>();
    byJob.values().forEach(pool -> ScalaBuffers.appendAll(queue, pool.stockTaskSets()));
    return queue;
  }

  /** Asked by the waker before it revives: always at a moment that was asked for, after a round only if it left slots. */
  private boolean worthReviving(boolean certain) {
    boolean worth = certain || quotas.wantsMore(revivedRound);
    revived |= worth;
    return worth;
  }

  void wakeNow() {
    long now = System.nanoTime();
    waker.wakeAt(now, now);
  }

  void executorsChanged(int slots) {
    synchronized (lock) {
      executorsSeen++;
      quotas.slots = slots;
      wakeNow();
    }
  }
}
