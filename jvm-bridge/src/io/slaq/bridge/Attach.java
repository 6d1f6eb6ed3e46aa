package io.slaq.bridge;

import com.sun.tools.attach.VirtualMachine;

/**
 * {@code java -cp slaq-bridge.jar io.slaq.bridge.Attach <pid> <jar>}: loads the agent into a JVM that already runs.
 *
 * <p>A process of its own, because a JVM does not attach to itself unless it was started with permission to.
 */
public final class Attach {
  private Attach() {}

  public static void main(String[] args) throws Exception {
    VirtualMachine machine = VirtualMachine.attach(args[0]);
    try {
      machine.loadAgent(args[1]);
    } finally {
      machine.detach();
    }
  }
}
