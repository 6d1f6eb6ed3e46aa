package io.slaq.bridge;

import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.scheduler.Pool;
import org.apache.spark.scheduler.Schedulable;
import org.apache.spark.scheduler.SchedulableBuilder;
import org.apache.spark.scheduler.SchedulingMode;
import org.apache.spark.scheduler.TaskSchedulerImpl;
import org.apache.spark.scheduler.TaskSetManager;
import scala.collection.mutable.ArrayBuffer;

/**
 * Puts the job pools into the scheduler of a running context, and takes them out again.
 *
 * <p>Both happen in one hold of the scheduler's lock; task sets and their running tasks move along, so no job notices.
 */
final class Installation {
  private final SparkContext sc;
  private final TaskSchedulerImpl scheduler;
  private final Pool root;
  private final Field builderField;
  private final Waker waker;
  private final Usages usages;
  private final Pools pools;
  private final Routing routing;
  private final Round round;
  private final Executors executors;
  private final boolean fair;
  private final Map<String, Pool> stockPools = new LinkedHashMap<>();

  Installation(SparkContext sc, boolean strict) throws ReflectiveOperationException {
    this.sc = sc;
    requireContract();
    if (!(sc.taskScheduler() instanceof TaskSchedulerImpl)) {
      throw new IllegalStateException(
          sc.taskScheduler().getClass().getName() + " is not Spark's own task scheduler; SLAQ cannot hold shares in it");
    }
    scheduler = (TaskSchedulerImpl) sc.taskScheduler();
    root = scheduler.rootPool();
    fair = scheduler.schedulingMode().equals(SchedulingMode.FAIR());
    builderField = TaskSchedulerImpl.class.getDeclaredField("schedulableBuilder");
    builderField.setAccessible(true);
    // Asked once here, because a failure later would be one inside Spark's scheduler.
    ScalaBuffers.append(new ArrayBuffer<Object>(), "");

    long now = System.nanoTime();
    double coresPerTask = sc.conf().getDouble("spark.task.cpus", 1.0);
    waker = new Waker(scheduler, sc.schedulerBackend(), now);
    Quotas quotas = new Quotas(new Total(coresPerTask, now), new Tenants(coresPerTask), strict);
    usages = new Usages(this::countSlots, this::stop);
    pools = new Pools(scheduler, root, waker, quotas, usages, coresPerTask);
    routing = new Routing((SchedulableBuilder) builderField.get(scheduler), pools, usages, fair, sc.conf().get(Owner.USER, null));
    round = new Round(pools);
    executors = new Executors(sc);
  }

  private static void requireContract() {
    List<String> missing = Needs.missing();
    if (!missing.isEmpty()) {
      throw new IllegalStateException("this Spark lacks " + String.join(", ", missing));
    }
  }

  void install() throws ReflectiveOperationException {
    Faults.arm(new Fuse());
    countSlots();
    synchronized (scheduler) {
      try {
        for (Schedulable child : new ArrayList<>(root.schedulableQueue())) {
          if (child instanceof Pool) {
            replace((Pool) child);
          }
        }
        if (pools.named(Pools.DEFAULT) == null) {
          pools.add(Pools.DEFAULT, Pools.DEFAULT, SchedulingMode.FIFO(), 0, 1, true);
        }
        for (TaskSetManager taskSet : taskSets(root)) {
          adopt(routing.poolFor(taskSet.taskSet().properties()), taskSet);
        }
        root.addSchedulable(round);
        builderField.set(scheduler, routing);
      } catch (Throwable t) {
        uninstall();
        throw t;
      }
    }
    sc.addSparkListener(usages);
    executors.install();
    // Executors that came after the first count and before the listener.
    countSlots();
  }

  /** Restores the stock pools and builder; running and waiting task sets go back with them. */
  void uninstall() throws ReflectiveOperationException {
    executors.uninstall();
    synchronized (scheduler) {
      waker.stop();
      builderField.set(scheduler, routing.stock());
      root.removeSchedulable(round);
      // All of ours go before the first of Spark's comes back: they have the same names.
      List<JobPool> ours = pools.removeAll();
      stockPools.values().forEach(root::addSchedulable);
      ours.forEach(this::giveBack);
    }
    sc.removeSparkListener(usages);
    sc.schedulerBackend().reviveOffers();
  }

  /** Under the lock, because whoever sets the timer holds it and must not find it stopped half way. */
  void stop() {
    executors.uninstall();
    synchronized (scheduler) {
      waker.stop();
    }
  }

  Pools pools() {
    return pools;
  }

  Usages usages() {
    return usages;
  }

  Executors executors() {
    return executors;
  }

  private void replace(Pool stock) {
    root.removeSchedulable(stock);
    stockPools.put(stock.name(), stock);
    String name = stock.name();
    JobPool twin = pools.add(name, name, stock.schedulingMode(), stock.minShare(), stock.weight(), true);
    for (TaskSetManager taskSet : taskSets(stock)) {
      adopt(twin, taskSet);
    }
    stock.runningTasks_$eq(0);
  }

  private void adopt(JobPool pool, TaskSetManager taskSet) {
    usages.stageAdded(taskSet, pool.usage());
    pool.adopt(taskSet);
  }

  private void giveBack(JobPool pool) {
    for (TaskSetManager taskSet : taskSets(pool)) {
      Pool stock = fair ? stockPools.computeIfAbsent(pool.name(), this::stockPool) : root;
      pool.removeSchedulable(taskSet);
      stock.addSchedulable(taskSet);
      if (stock != root) {
        stock.runningTasks_$eq(stock.runningTasks() + taskSet.runningTasks());
      }
    }
  }

  private Pool stockPool(String name) {
    Pool pool = new Pool(name, SchedulingMode.FIFO(), 0, 1);
    root.addSchedulable(pool);
    return pool;
  }

  private static List<TaskSetManager> taskSets(Pool pool) {
    List<TaskSetManager> found = new ArrayList<>();
    for (Schedulable child : pool.schedulableQueue()) {
      if (child instanceof TaskSetManager) {
        found.add((TaskSetManager) child);
      }
    }
    return found;
  }

  private void countSlots() {
    try {
      int slots = sc.schedulerBackend().maxNumConcurrentTasks(sc.resourceProfileManager().defaultResourceProfile());
      pools.executorsChanged(slots);
    } catch (Throwable t) {
      Faults.record("executor count", t);
    }
  }
}
