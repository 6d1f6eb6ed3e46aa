package io.slaq.bridge;

import io.slaq.probe.Events;
import io.slaq.probe.Fits;
import io.slaq.probe.Health;
import io.slaq.probe.Json;
import io.slaq.probe.Session;
import io.slaq.probe.Stops;
import java.util.ArrayList;
import java.util.List;
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
  private final Board board = new Board();
  private boolean closed;

  private Bridge(SparkContext sc, Installation installation) {
    this.sc = sc;
    this.installation = installation;
    this.pools = installation.pools();
    this.lock = pools.lock;
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
    current.board.attach(sc);
    return current;
  }

  /** The bridge in use, or null. */
  public static synchronized Bridge current() {
    return current == null || current.closed ? null : current;
  }

  /** Strict: idle slots are never lent to throttled jobs. */
  public void setStrict(boolean strict) {
    synchronized (lock) {
      pools.quotas.strict = strict;
      pools.wakeNow();
    }
  }

  /** Whether slots go to the user who is latest first, and only then to one of that user's jobs. */
  public void setUsersFirst(boolean usersFirst) {
    synchronized (lock) {
      pools.quotas.tenants.first = usersFirst;
      pools.wakeNow();
    }
  }

  /**
   * Makes the job's pool, or holds on to the one there is; each call wants its own {@link #closePool}. The pool has the
   * weight and minShare of the configured pool that this thread is in.
   */
  public void openPool(String job) {
    hold(job);
  }

  /** Lets go of a job's pool; it disappears with the last holder and the last task. */
  public void closePool(String job) {
    synchronized (lock) {
      JobPool pool = pools.ofJob(job);
      if (pool != null) {
        pool.unhold();
        pools.retireIfUnused(pool, System.nanoTime());
      }
    }
  }

  /** Opens the job's pool and sends this thread's Spark jobs there until {@link #leave}. */
  public Scope enter(String job) {
    return new Scope(sc, job, hold(job).name());
  }

  public void leave(Scope scope) {
    scope.restore();
    closePool(scope.job());
  }

  /** The job this thread is in; outside of one, the pool its user gave it, or null. */
  String jobOfThread() {
    String job = sc.getLocalProperty(Scope.JOB);
    return job != null ? job : sc.getLocalProperty(Scope.POOL);
  }

  /** The tracking run that Python noted for this thread, or null. */
  String runOfThread() {
    return sc.getLocalProperty("slaq.run");
  }

  /** The weight of the configured pool that this thread's jobs start in. */
  int weightOfThread() {
    String home = Scope.home(sc.getLocalProperties());
    synchronized (lock) {
      JobPool pool = home == null ? null : pools.named(home);
      return pool == null || !pool.permanent ? 1 : pool.weight();
    }
  }

  /** For whom this thread works, and what their session says of its fits. */
  Session sessionOfThread() {
    return Sessions.of(sc.getLocalProperties(), sc.conf());
  }

  private JobPool hold(String job) {
    Properties properties = sc.getLocalProperties();
    String home = Scope.home(properties);
    String user = Owner.of(properties, sc.conf().get(Owner.USER, null));
    synchronized (lock) {
      JobPool pool = pools.open(job, home);
      pools.give(pool, user);
      pool.hold();
      return pool;
    }
  }

  /**
   * Applies grants, one line per job (see {@link Grant#read}), all of them or, if one is malformed, none. Jobs not named
   * keep what they have. Returns how many of the jobs exist.
   */
  public int grant(String lines, double leaseSeconds, double totalCores) {
    Map<String, Grant> grants = Grant.read(lines);
    int applied = 0;
    synchronized (lock) {
      long now = System.nanoTime();
      long leaseEnds = now + (long) (Math.min(leaseSeconds, LONGEST_LEASE_SECONDS) * 1e9);
      for (Map.Entry<String, Grant> entry : grants.entrySet()) {
        JobPool pool = pools.ofJob(entry.getKey());
        if (pool == null) {
          continue;
        }
        applied++;
        if (entry.getValue() == null || Stops.ending(entry.getKey())) {
          pool.share().release(now);
        } else {
          pool.share().grant(now, entry.getValue(), leaseEnds);
        }
      }
      pools.quotas.tenants.settle(now, pools.all());
      pools.quotas.total.grant(now, totalCores, leaseEnds);
      installation.executors().setTotal(totalCores, leaseEnds);
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
    Fits.endSilent();
    usages.settle(System.nanoTime());
    Json json = new Json().open().key("events");
    // The order matters: usages that are numbered from here on belong to the next poll.
    long complete = Events.write(json, acked, maxEvents);
    json.key("jobs").openArray();
    for (PoolState state : states()) {
      state.write(json);
    }
    for (JobUsage usage : usages.ended(acked, complete)) {
      json.open().field("job", usage.job());
      usage.write(json);
      json.close();
    }
    json.closeArray().field("complete", complete).field("watched", board.watched()).key("probe").raw(Health.report());
    json.key("counters").open();
    writeCounters(json);
    return json.close().close().toString();
  }

  /** What the tab in Spark's UI shows, see {@code io.slaq.ui.Rows}; asked for by "watched" in a poll. */
  public void show(String text) {
    board.write(text);
  }

  /** Forgets what is numbered up to here. A reader that goes says so for the last time. */
  public void acknowledge(long acked) {
    Events.acknowledge(acked);
    installation.usages().acknowledge(acked);
  }

  /**
   * Has a fit return the model it has after so many iterations (0: after the one under way), and opens its pool, so that
   * the last iteration does not wait for cores. For the answers see {@link Stops#ask}.
   */
  public String stop(String job, int afterIterations, String why) {
    String answer = Stops.ask(job, afterIterations, why);
    synchronized (lock) {
      JobPool pool = pools.ofJob(job);
      if (pool != null && Stops.ending(job)) {
        pool.share().release(System.nanoTime());
        pools.wakeNow();
      }
    }
    return answer;
  }

  /** Restores stock Spark; calling it again does nothing. */
  public synchronized void close() throws ReflectiveOperationException {
    if (!closed) {
      closed = true;
      Fits.listener = null;
      board.detach();
      installation.uninstall();
    }
  }

  /** The context is going down: only the timer needs an end. */
  synchronized void stop() {
    closed = true;
    Fits.listener = null;
    installation.stop();
  }

  /** Numbers are copied under the scheduler's lock and written outside of it. */
  private List<PoolState> states() {
    synchronized (lock) {
      long now = System.nanoTime();
      List<PoolState> states = new ArrayList<>(pools.all().size());
      for (JobPool pool : pools.all()) {
        pools.endLease(pool, now);
        states.add(new PoolState(pool, now));
      }
      return states;
    }
  }

  private void writeCounters(Json json) {
    json.field("slots", pools.quotas.slots).field("strict", pools.quotas.strict);
    json.field("rounds", pools.rounds).field("revivals", pools.waker.revivals());
    json.field("leases_expired", pools.leasesExpired);
    json.field("gate", Gate.active()).field("stages_tracked", installation.usages().stagesTracked());
    json.key("faults").open();
    for (Map.Entry<String, Long> fault : Faults.counts().entrySet()) {
      json.field(fault.getKey(), fault.getValue());
    }
    json.close();
  }
}
