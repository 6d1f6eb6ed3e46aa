package io.slaq.probe;

import java.util.ArrayDeque;
import java.util.concurrent.atomic.AtomicLong;

/** The open fits of every thread, and the methods through which rewritten Spark code reports to them. */
public final class Fits {
  /** Whoever wants to know of jobs as they begin and end; the bridge sets it. */
  public static volatile FitListener listener;

  private static final AtomicLong COUNT = new AtomicLong();

  /** Null marks an entry point inside an open job: the job goes on, nothing begins or ends. */
  private static final ThreadLocal<ArrayDeque<Fit>> OPEN = ThreadLocal.withInitial(ArrayDeque::new);

  /** A stand-in for null, which ArrayDeque does not take. */
  private static final Fit NOTHING = new Fit("none", Estimator.UNKNOWN, null, null);

  /** CrossValidator and OneVsRest fit in threads they start: those inherit whom they work for. */
  private static final InheritableThreadLocal<Fit> FAMILY = new InheritableThreadLocal<>();

  private Fits() {}

  /** The job whose fit this thread is running, or null. */
  public static Fit current() {
    for (Fit fit : OPEN.get()) {
      if (fit != NOTHING) {
        return fit.wrapper() ? null : fit;
      }
    }
    return null;
  }

  /** At the head of Instrumentation.instrumented: {@code body} is the estimator's lambda. Must push exactly once. */
  public static void enterMl(Object body) {
    push(() -> Estimator.ofBody(body));
  }

  /** At the head of an old mllib entry point, which counts only if no job is open in this thread. */
  public static void enterMllib(Object algorithm) {
    if (current() != null) {
      OPEN.get().push(NOTHING);
    } else {
      push(() -> Estimator.ofMllib(algorithm));
    }
  }

  private interface Look {
    Estimator estimator() throws Exception;
  }

  private static void push(Look look) {
    Fit fit = NOTHING;
    boolean begins = false;
    try {
      Health.flushWarnings();
      Estimator estimator = look.estimator();
      Fit resumed = Streams.resumed(estimator);
      begins = resumed == null;
      fit = begins ? new Fit("fit-" + COUNT.incrementAndGet(), estimator, family(), listener) : resumed;
      if (begins) {
        Streams.begun(fit, estimator);
      }
    } catch (Throwable t) {
      Health.failed("scope", t);
    }
    OPEN.get().push(fit);
    if (fit == NOTHING) {
      return;
    }
    FAMILY.set(fit);
    Stops.begun(fit);
    FitListener told = fit.listener();
    if (told != null) {
      try {
        Health.check("listener");
        told.begun(fit);
      } catch (Throwable t) {
        Health.failed("listener", t);
      }
    }
    if (begins) {
      // Not before: the event tells in which pool the fit began, and the listener has just found out.
      Events.add(Event.begin(fit));
    }
  }

  /** Before every return of a scoped method. */
  public static void exit() {
    pop(null);
  }

  /** In the handler of a scoped method; a Scala `return` leaves a fit as a ControlThrowable and is no failure. */
  public static void exitThrown(Throwable thrown) {
    pop(thrown instanceof scala.util.control.ControlThrowable ? null : thrown);
  }

  private static void pop(Throwable failure) {
    try {
      Fit fit = OPEN.get().poll();
      if (fit == null || fit == NOTHING) {
        return;
      }
      FAMILY.set(fit.parent());
      if (fit.stream() == null || failure != null) {
        Streams.ended(fit);
        end(fit, failure);
      } else {
        fit.rests();
        tell(fit, null);
      }
    } catch (Throwable t) {
      Health.failed("listener", t);
    }
  }

  /** Ends the jobs of streaming models that get no more data; to be called from time to time. */
  public static void endSilent() {
    try {
      for (Fit fit : Streams.silent()) {
        end(fit, null);
      }
    } catch (Throwable t) {
      Health.failed("listener", t);
    }
  }

  private static void end(Fit fit, Throwable failure) {
    fit.end(failure);
    Stops.ended(fit);
    tell(fit, failure);
    fit.release();
  }

  private static void tell(Fit fit, Throwable failure) {
    FitListener told = fit.listener();
    if (told != null) {
      Health.check("listener");
      told.ended(fit, failure);
    }
  }

  /** The fit that started this one: open in this thread, or inherited from the thread that started this thread. */
  private static Fit family() {
    for (Fit fit : OPEN.get()) {
      if (fit != NOTHING) {
        return fit;
      }
    }
    Fit inherited = FAMILY.get();
    return inherited != null && inherited.isOpen() ? inherited : null;
  }

  /** Record a loss of this thread's job; a value outside any job is counted and dropped. */
  static void loss(String name, double value) {
    Health.check(name);
    Fit fit = current();
    if (fit == null) {
      Health.orphan();
    } else {
      fit.loss(name, value);
    }
  }
}
