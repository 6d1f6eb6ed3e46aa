package io.slaq.sidecar;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import py4j.CallbackClient;
import py4j.GatewayServer;

/**
 * The Python agent beside a driver, whatever language the driver speaks: a child process that connects back over py4j.
 *
 * <p>The gateway listens on the loopback at a free port and asks for a random token, which travels through the child's
 * standard input. That pipe is also the child's life line: it ends when the pipe does, so it never outlives the driver.
 */
public final class Sidecar {
  private static final Logger LOG = LoggerFactory.getLogger("io.slaq.sidecar");
  private static final String PYTHON = "spark.slaq.python";
  private static final String MODULE = "slaq.driver.sidecar";
  private static final int TOKEN_BYTES = 32;
  /**
   * How long an application that ends waits at most for its sidecar to take the last losses. It takes a moment, unless
   * the application was so short, or the host is so busy, that the sidecar is still starting.
   */
  private static final long FAREWELL_SECONDS = 15;

  private static Sidecar current;

  private final Desk desk;
  private final GatewayServer gateway;
  private final Process process;
  private volatile boolean stopping;

  private Sidecar(Desk desk, GatewayServer gateway, Process process) {
    this.desk = desk;
    this.gateway = gateway;
    this.process = process;
  }

  /** Called by the plugin once the bridge is installed; a failure leaves the application as if there were no SLAQ. */
  public static synchronized void start(SparkContext sc) throws IOException {
    if (current != null) {
      return;
    }
    String token = randomToken();
    Desk desk = new Desk(sc);
    InetAddress here = InetAddress.getLoopbackAddress();
    GatewayServer gateway =
        new GatewayServer.GatewayServerBuilder(desk)
            .javaAddress(here)
            .javaPort(0)
            // Nobody is called back. Connections that live for no time need no cleaner, whose thread would keep a JVM
            // alive that ends without stopping its context.
            .callbackClient(new CallbackClient(GatewayServer.DEFAULT_PYTHON_PORT, here, 0, TimeUnit.SECONDS))
            .authToken(token)
            .build();
    listen(gateway);
    try {
      Process process = launch(python(sc.conf()), gateway.getListeningPort(), token);
      current = new Sidecar(desk, gateway, process);
    } catch (IOException e) {
      gateway.shutdown();
      throw e;
    }
    current.watch();
  }

  /** Called by the plugin before the context goes down. */
  public static synchronized void stop() {
    if (current != null) {
      current.end();
      current = null;
    }
  }

  /** The desk for the application's own Python process; null without a running sidecar. */
  public static synchronized Desk desk() {
    return current != null && current.process.isAlive() ? current.desk : null;
  }

  /** Threads inherit being daemons: a gateway of other threads would keep a finished application alive. */
  private static void listen(GatewayServer gateway) throws IOException {
    Thread starter = new Thread(() -> gateway.start(true), "slaq-sidecar-gateway");
    starter.setDaemon(true);
    starter.start();
    try {
      starter.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (gateway.getListeningPort() <= 0) {
      throw new IOException("no port on the loopback for SLAQ's Python agent");
    }
  }

  private static Process launch(String python, int port, String token) throws IOException {
    ProcessBuilder builder = new ProcessBuilder(python, "-m", MODULE);
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
    builder.redirectError(ProcessBuilder.Redirect.INHERIT);
    // A module of the user's working directory must not stand in for one of ours.
    builder.environment().put("PYTHONSAFEPATH", "1");
    Process process = builder.start();
    OutputStream in = process.getOutputStream();
    in.write((port + " " + token + "\n").getBytes(StandardCharsets.US_ASCII));
    in.flush();
    return process;
  }

  private static String python(SparkConf conf) {
    for (String key : Arrays.asList(PYTHON, "spark.pyspark.driver.python", "spark.pyspark.python")) {
      if (!conf.get(key, "").isEmpty()) {
        return conf.get(key);
      }
    }
    String fromEnvironment = System.getenv("PYSPARK_PYTHON");
    return fromEnvironment == null || fromEnvironment.isEmpty() ? "python3" : fromEnvironment;
  }

  private static String randomToken() {
    byte[] bytes = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(bytes);
    StringBuilder text = new StringBuilder();
    for (byte b : bytes) {
      text.append(String.format("%02x", b));
    }
    return text.toString();
  }

  /** Says once if the child ends before the application does; leases then open all pools. */
  private void watch() {
    Thread watcher =
        new Thread(
            () -> {
              try {
                int code = process.waitFor();
                if (!stopping && code != 0) {
                  LOG.warn(
                      "SLAQ's Python agent ended with code {}; the application goes on unthrottled. Set {} to a Python "
                          + "that has slaq installed, if that is what it says above.",
                      code,
                      PYTHON);
                }
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "slaq-sidecar-watch");
    watcher.setDaemon(true);
    watcher.start();
  }

  private void end() {
    stopping = true;
    try {
      process.getOutputStream().close();
      if (!process.waitFor(FAREWELL_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (IOException e) {
      process.destroyForcibly();
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    } finally {
      gateway.shutdown();
    }
  }
}
