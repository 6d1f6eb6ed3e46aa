package io.slaq.bridge;

import io.slaq.probe.Agent;
import io.slaq.probe.TaskJar;
import io.slaq.sidecar.Sidecar;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.api.plugin.SparkPlugin;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** {@code spark.plugins=io.slaq.bridge.SlaqPlugin}: installs the bridge before the application's first job. */
public final class SlaqPlugin implements SparkPlugin {
  private static final Logger LOG = LoggerFactory.getLogger("io.slaq.bridge");
  private static final String PLUGINS = "spark.plugins";
  private static final String ENABLED = "spark.slaq.enabled";
  private static final String STRICT = "spark.slaq.strict";

  @Override
  public DriverPlugin driverPlugin() {
    return new Driver();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return null;
  }

  private static final class Driver implements DriverPlugin {
    private SparkContext sc;
    private boolean enabled;

    /** Runs before the task scheduler exists: the last moment to choose its mode. */
    @Override
    public Map<String, String> init(SparkContext context, PluginContext ignored) {
      sc = context;
      try {
        hideFromExecutors(sc.conf());
        enabled = sc.conf().getBoolean(ENABLED, true) && fits();
        if (enabled) {
          sc.conf().setIfMissing("spark.scheduler.mode", "FAIR");
          TaskJar.sendAtStart(sc);
        }
      } catch (Throwable t) {
        Faults.record("plugin start", t);
      }
      return Collections.emptyMap();
    }

    /** Runs when the task scheduler is up and no job has been submitted. */
    @Override
    public void registerMetrics(String appId, PluginContext ignored) {
      try {
        if (enabled) {
          Agent.ready();
          Bridge.install(sc, sc.conf().getBoolean(STRICT, false));
          Sidecar.start(sc);
        }
      } catch (Throwable t) {
        Faults.record("plugin installation", t);
      }
    }

    @Override
    public void shutdown() {
      if (!enabled) {
        return;
      }
      try {
        // Its last poll needs the bridge.
        Sidecar.stop();
        Bridge bridge = Bridge.current();
        if (bridge != null) {
          bridge.stop();
        }
      } catch (Throwable t) {
        Faults.record("plugin end", t);
      }
    }

    /** Asked before any of the code that would need it is touched. */
    private static boolean fits() {
      List<String> missing = Needs.missing();
      if (!missing.isEmpty()) {
        LOG.warn("SLAQ is not installed, the application runs as without it: this Spark lacks {}.", String.join(", ", missing));
      }
      return missing.isEmpty();
    }

    /** Executors load what this key names and die if they cannot; they have nothing to do here and need no jar. */
    private static void hideFromExecutors(SparkConf conf) {
      List<String> others = new ArrayList<>();
      for (String name : conf.get(PLUGINS, "").split(",")) {
        if (!name.trim().isEmpty() && !name.trim().equals(SlaqPlugin.class.getName())) {
          others.add(name.trim());
        }
      }
      if (others.isEmpty()) {
        conf.remove(PLUGINS);
      } else {
        conf.set(PLUGINS, String.join(",", others));
      }
    }
  }
}
