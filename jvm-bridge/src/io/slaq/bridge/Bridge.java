package io.slaq.bridge;

import io.slaq.probe.Events;
import io.slaq.probe.Fits;
import io.slaq.probe.Health;
import io.slaq.probe.Json;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.SparkContext;

/**
 * What the Python side (or any other) calls: pools, grants and polls of one Spark context.
 *
 * <p>Every public method is one call over py4j whatever the number of jobs.
 */
public final class Bridge {
  /** A longer one would mean the same, until its end in nanoseconds wraps around and lies in the past. */
  private static final double LONGEST_LEASE_SECONDS = 86_400;

  private static Bridge current;

  private final SparkContext sc;
  private final Installation installation;
  private final Pools pools;
  private final Object lock;
  private boolean closed;

  private Bridge(SparkContext sc, Installation installation) {
    this.sc = sc;
    this.installation = installation;
    this.pools = installation.pools();
    this.lock = pools.lock();
  }

  /** Installs into a context, or returns the bridge that is installed in it already. */
  public static synchronized Bridge install(SparkContext sc, boolean strict) throws ReflectiveOperationException {
    if (current != null && current.sc == sc && !current.closed) {
      current.setStrict(strict);
      return current;
    }
    Installation installation = new Installation(sc, strict);
    installation.install();
    current = new Bridge(sc, installation);
    Fits.listener = new FitPools(current);
    return current;
  }

  /** The bridge in use, or null. */
  public static synchronized Bridge current() {
    return current == null || current.closed ? null : current;
  }

  /** Strict: idle slots are never lent to throttled jobs. */
  public void setStrict(boolean strict) {
    synchronized (lock) {
      pools.lender().setStrict(strict);
      pools.wakeNow();
    }
  }

  /** Makes the job's pool, or holds on to the one there is; each call wants its own {@link #closePool}. */
  public void openPool(String job) {
    synchronized (lock) {
      pools.find(job).hold();
    }
  }

  /** Lets go of a job's pool; it disappears with the last holder and the last task. */
  public void closePool(String job) {
    synchronized (lock) {
      JobPool pool = pools.get(job);
      if (pool != null) {
        pool.unhold();
        pools.retireIfUnused(pool);
      }
    }
  }

  /** Opens the job's pool and sends this thread's Spark jobs there until {@link #leave}. */
  public Scope enter(String job) {
    openPool(job);
    return new Scope(sc, job);
  }

  /** Where this thread's Spark jobs go; null: to the default pool. */
  String poolOfThread() {
    return sc.getLocalProperty(Scope.POOL_PROPERTY);
  }

  public void leave(Scope scope) {
    scope.restore();
    closePool(scope.job());
  }

  /**
   * Applies grants, one line per job: name, cores ("open" lifts the limit), cap (0: none), burst seconds and place on
   * standby, separated by tabs. Jobs not named keep what they have. Returns how many of the jobs exist.
   */
  public int grant(String lines, double leaseSeconds, double totalCores) {
    int applied = 0;
    synchronized (lock) {
      long now = System.nanoTime();
      long leaseEnds = now + (long) (Math.min(leaseSeconds, LONGEST_LEASE_SECONDS) * 1e9);
      for (String line : lines.split("\n")) {
        String[] cells = line.split("\t");
        JobPool pool = pools.get(cells[0]);
        if (pool == null) {
          continue;
        }
        applied++;
        if (cells[1].equals("open")) {
          pool.share().release(now);
        } else {
          int cap = Integer.parseInt(cells[2]);
          double burst = Double.parseDouble(cells[3]);
          pool.share().grant(now, Double.parseDouble(cells[1]), cap == 0 ? Share.NO_CAP : cap, burst, leaseEnds);
          pool.share().setStandby(Integer.parseInt(cells[4]));
        }
      }
      pools.lender().setTotal(now, totalCores, leaseEnds);
      pools.wakeNow();
    }
    return applied;
  }

  /**
   * One JSON text: the pools with their usage, the numbered events after {@code acked} (at most {@code maxEvents}), the
   * last usage of every pool that closed, and counters. What is numbered up to {@code acked} is forgotten; everything
   * later comes again with the next poll. "complete" is the number to acknowledge once all of it was applied.
   */
  public String poll(int maxEvents, long acked) {
    Usages usages = installation.usages();
    acknowledge(acked);
    usages.settle(System.nanoTime());
    Json json = new Json().open().key("events");
    // The order matters: usages that are numbered from here on belong to the next poll.
    long complete = Events.write(json, acked, maxEvents);
    json.key("jobs").openArray();
    synchronized (lock) {
      long now = System.nanoTime();
      for (JobPool pool : pools.all()) {
        pools.endLease(pool, now);
        write(json, pool, now);
      }
    }
    for (JobUsage usage : usages.ended(acked, complete)) {
      json.open().field("job", usage.job());
      usage.write(json);
      json.close();
    }
    json.closeArray().field("complete", complete).key("probe").raw(Health.report());
    json.key("counters").open();
    writeCounters(json);
    return json.close().close().toString();
  }

  /** Forgets what is numbered up to here. A reader that goes says so for the last time. */
  public void acknowledge(long acked) {
    Events.acknowledge(acked);
    installation.usages().acknowledge(acked);
  }

  /** Restores stock Spark; calling it again does nothing. */
  public synchronized void close() throws ReflectiveOperationException {
    if (!closed) {
      closed = true;
      Fits.listener = null;
      installation.uninstall();
    }
  }

  /** The context is going down: only the timer needs an end. */
  synchronized void stop() {
    closed = true;
    Fits.listener = null;
    installation.stop();
  }

  private static void write(Json json, JobPool pool, long now) {
    Share share = pool.share();
    json.open().field("job", pool.name());
    pool.observe(now);
    json.field("cores", share.cores()).field("tokens", share.tokens()).field("lease_s", share.leaseSeconds(now));
    json.field("running", share.running()).field("borrowed", share.borrowed()).field("pending", pool.pending());
    json.field("held_s", share.heldSeconds(now)).field("borrowed_s", share.borrowedSeconds(now));
    json.field("paused_s", share.pausedSeconds());
    pool.usage().write(json);
    json.close();
  }

  private void writeCounters(Json json) {
    synchronized (lock) {
      json.field("slots", pools.lender().slots()).field("strict", pools.lender().strict());
      json.field("rounds", pools.rounds()).field("revivals", pools.revivals());
      json.field("leases_expired", pools.leasesExpired());
    }
    json.field("gate", Gate.active()).field("stages_tracked", installation.usages().stagesTracked());
    json.key("faults").open();
    for (Map.Entry<String, Long> fault : Faults.counts().entrySet()) {
      json.field(fault.getKey(), fault.getValue());
    }
    json.close();
  }

  /** A thread's way back to the pool it was in before. */
  public static final class Scope {
    private static final String POOL_PROPERTY = "spark.scheduler.pool";

    private final SparkContext sc;
    private final String job;
    private final Properties before;
    private final Properties during;

    /** PySpark shares one Properties object between the threads of a pool, so the change is made to a private copy. */
    Scope(SparkContext sc, String job) {
      this.sc = sc;
      this.job = job;
      before = sc.getLocalProperties();
      during = (Properties) before.clone();
      during.setProperty(POOL_PROPERTY, job);
      sc.setLocalProperties(during);
    }

    void restore() {
      if (sc.getLocalProperties() == during) {
        sc.setLocalProperties(before);
      }
    }

    String job() {
      return job;
    }
  }
}
