package io.slaq.bridge;

import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;

/**
 * The rule: who may start how many tasks in a round of offers.
 *
 * <p>Each pool keeps one number, its tokens = ∫ (granted cores − running tasks) dt, within bounds and not charged for
 * slots that were lent. In every round the free slots, or what the application's total leaves of them, are handed out one
 * by one to the pool with the smallest key (see {@link Claim}): first pools that have tokens and run less than they are
 * granted, then pools without a grant, then the rest on loan, each in the order the scheduler gave. The gate lets a task
 * start while its pool has a quota.
 *
 * <p>A barrier stage starts as a whole or not at all: when it is next and slots are too few, nobody else gets any until
 * they suffice. Knows nothing of Spark; guarded by the scheduler's lock.
 */
final class Quotas {
  /** Pools that are asked after those with quotas, for slots that these cannot use (locality, excluded executors). */
  private static final int LEAST_RESERVES = 8;
  /** Between two looks at slots that are drained for a barrier stage. */
  private static final long DRAINING_NANOS = 10_000_000L;

  final Total total;
  final Tenants tenants;
  /** Idle slots are never lent, and the total does not matter. */
  boolean strict;
  /** How many tasks the executors can run at once. */
  int slots;
  private int running;
  private int handed;
  private int unspent;
  private int launched;
  private boolean capped;
  private boolean uncertain;
  /** The claim of a barrier stage that was next when slots were too few: nobody else gets any until they suffice. */
  private Claim awaited;
  private boolean draining;
  /** Until the first round, and when one failed, nobody is stopped. */
  private boolean open = true;

  Quotas(Total total, Tenants tenants, boolean strict) {
    this.total = total;
    this.tenants = tenants;
    this.strict = strict;
  }

  /** The claims to be offered, in order: first those with quotas, then their reserves, which have none. */
  List<Claim> handOut(long now, List<Claim> claims) {
    tenants.begin();
    PriorityQueue<Claim> queue = new PriorityQueue<>(Math.max(1, claims.size()));
    for (Claim claim : claims) {
      claim.rate(now, total, strict);
      if (claim.rank != Claim.Rank.NONE) {
        queue.add(claim);
      }
    }
    boolean bounded = !strict && total.inForce(now);
    int idle = slots - running;
    // Slots may be more than were counted (executors of another resource profile, tasks on executors that are going):
    // Spark knows best, so one task may always try.
    int free = Math.max(idle, 1);
    uncertain = idle < 1;
    int allowed = bounded ? Math.min(free, total.room(now, running)) : free;
    capped = allowed < free;
    handed = 0;
    launched = 0;
    List<Claim> served = new ArrayList<>();
    draining = false;
    if (awaited != null && awaited.unit > 1 && queue.remove(awaited)) {
      draining = awaited.unit > free;
      if (!draining) {
        served.add(awaited);
        handed = awaited.unit;
        awaited.give(awaited.unit);
      }
    }
    awaited = draining ? awaited : null;
    while (!queue.isEmpty() && handed < free && !draining) {
      Claim next = queue.poll();
      if (tenants.first && next.outdated()) {
        next.rate(now, total, strict);
        queue.add(next);
        continue;
      }
      if (handed >= allowed && !next.overdraws()) {
        if (next.rank == Claim.Rank.OWED || tenants.first) {
          continue;
        }
        break;
      }
      if (next.unit > free - handed) {
        // A barrier stage; for one with more tasks than there are slots at all, Spark gives up by itself.
        draining = next.unit <= slots;
        awaited = draining ? next : null;
        continue;
      }
      if (next.quota() == 0) {
        served.add(next);
      }
      handed += next.unit;
      next.give(next.unit);
      if (next.wanted > 0) {
        next.rate(now, total, strict);
        if (next.rank != Claim.Rank.NONE) {
          queue.add(next);
        }
      }
    }
    unspent = handed;
    open = false;
    for (int left = Math.max(LEAST_RESERVES, handed); left > 0 && !draining && !queue.isEmpty() && handed > 0; left--) {
      Claim reserve = queue.poll();
      if (reserve.quota() == 0 && reserve.unit == 1) {
        reserve.reserve = true;
        served.add(reserve);
      }
    }
    return served;
  }

  /** The gate's question for each task. Reserves are asked last: what is unspent by then, nobody else could use. */
  boolean mayLaunch(Claim claim) {
    return open || claim.quota() > 0 || (claim.reserve && unspent > 0);
  }

  void started(long now, Claim claim, int tasks) {
    for (int i = 0; i < tasks; i++) {
      claim.share.started(now, claim.take());
    }
    claim.tenant.ran(now, tasks);
    unspent = Math.max(0, unspent - tasks);
    launched += tasks;
    running += tasks;
    total.ran(now, tasks);
  }

  void ended(long now, Claim claim, int tasks) {
    claim.share.ended(now, tasks);
    claim.tenant.ran(now, -tasks);
    running -= tasks;
    total.ran(now, -tasks);
  }

  /** When the answer may change though no task ends and no stage comes; asked after handing out. */
  long changesAt(long now, List<Claim> claims) {
    long at = capped ? total.changesAt(now) : Long.MAX_VALUE;
    if (draining) {
      // Spark offers the slot of an ended task before it has counted the end, and nobody else would ask again.
      at = Math.min(at, now + DRAINING_NANOS);
    }
    if (capped || handed < slots - running) {
      for (Claim claim : claims) {
        // Under a total that is used up, refilled tokens change nothing.
        if (claim.wanted > 0 && !(capped && claim.share.limited)) {
          at = Math.min(at, claim.changesAt(now, total));
        }
      }
    }
    return at;
  }

  /** Whether this round's quotas may go unspent, or slots may be more than thought: to be looked at after the round. */
  boolean doubtful() {
    return handed > 1 || uncertain;
  }

  /** Whether a further round may start more, asked after a round that did or did not come by a revival of ours. */
  boolean wantsMore(boolean revived) {
    return unspent > 0 ? launched > 0 || !revived : uncertain && launched > 0;
  }

  /** Lets every task start until the next round. */
  void open() {
    open = true;
  }
}
