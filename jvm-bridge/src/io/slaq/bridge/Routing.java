package io.slaq.bridge;

import java.util.Properties;
import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.Schedulable;
import org.apache.spark.scheduler.SchedulableBuilder;
import org.apache.spark.scheduler.TaskSetManager;

/** Stands in for Spark's schedulable builder: sends each new task set to the pool of its job. */
final class Routing implements SchedulableBuilder {
  private static final Properties NONE = new Properties();

  private final SchedulableBuilder stock;
  private final Pools pools;
  private final Usages usages;
  /** Under FIFO Spark ignores the names of pools, so only names of announced jobs count. */
  private final boolean fair;

  /** The driver's own user, if its configuration names one. */
  private final String own;

  Routing(SchedulableBuilder stock, Pools pools, Usages usages, boolean fair, String own) {
    this.stock = stock;
    this.pools = pools;
    this.usages = usages;
    this.fair = fair;
    this.own = own;
  }

  @Override
  public Pool rootPool() {
    return stock.rootPool();
  }

  @Override
  public void buildPools() {
    stock.buildPools();
  }

  @Override
  public void addTaskSetManager(Schedulable manager, Properties properties) {
    try {
      JobPool pool = poolFor(properties);
      usages.stageAdded((TaskSetManager) manager, pool.usage());
      pool.addSchedulable(manager);
    } catch (Throwable t) {
      Faults.record("task set", t);
      // A task set in a pool of ours is served even if its accounting failed; one in none would never run.
      if (manager.parent() == null) {
        stock.addTaskSetManager(manager, properties);
      }
    }
  }

  JobPool poolFor(Properties properties) {
    Properties known = properties == null ? NONE : properties;
    JobPool ofJob = known.getProperty(Scope.JOB) == null ? null : pools.ofJob(known.getProperty(Scope.JOB));
    if (ofJob != null) {
      return ofJob;
    }
    String name = Scope.home(known);
    String user = Owner.of(known, own);
    if (user != null) {
      JobPool ofUser = pools.find(Owner.pool(user, name));
      pools.give(ofUser, user);
      return ofUser;
    }
    return pools.find(name == null || (!fair && pools.named(name) == null) ? Pools.DEFAULT : name);
  }

  SchedulableBuilder stock() {
    return stock;
  }
}
