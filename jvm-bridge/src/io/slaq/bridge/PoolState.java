package io.slaq.bridge;

import io.slaq.probe.Json;

/** A pool's numbers at one moment, for a poll: taken under the scheduler's lock, written outside of it. */
final class PoolState {
  private final JobPool pool;
  private final double cores;
  private final double tokens;
  private final double leaseSeconds;
  private final int running;
  private final int borrowed;
  private final int pending;
  private final double heldSeconds;
  private final double borrowedSeconds;
  private final double pausedSeconds;

  PoolState(JobPool pool, long now) {
    Share share = pool.share();
    this.pool = pool;
    cores = share.cores();
    tokens = share.tokens(now);
    leaseSeconds = share.leaseSeconds(now);
    running = share.running();
    borrowed = share.borrowed;
    pending = pool.launchable();
    heldSeconds = share.heldSeconds(now);
    borrowedSeconds = share.borrowedSeconds(now);
    pausedSeconds = share.pausedSeconds();
  }

  void write(Json json) {
    json.open().field("job", pool.job).field("pool", pool.name());
    json.field("cores", cores).field("tokens", tokens).field("lease_s", leaseSeconds);
    json.field("running", running).field("borrowed", borrowed).field("pending", pending);
    json.field("held_s", heldSeconds).field("borrowed_s", borrowedSeconds).field("paused_s", pausedSeconds);
    pool.usage().write(json);
    json.close();
  }
}
