package io.slaq.probe;

import java.util.Map;

/** The beginning of a fit, one of its losses, or its end; written as JSON only when it is read. */
final class Event {
  private static final int LONGEST_ERROR = 500;

  private final String kind;
  private final Fit fit;
  private final long nanos;
  private final int iteration;
  private final String text;
  private final double value;
  private long seq;

  private Event(String kind, Fit fit, int iteration, String text, double value) {
    this.kind = kind;
    this.fit = fit;
    this.nanos = fit.nanos();
    this.iteration = iteration;
    this.text = text;
    this.value = value;
  }

  static Event begin(Fit fit) {
    return new Event("begin", fit, 0, null, 0);
  }

  static Event loss(Fit fit, int iteration, String name, double value) {
    return new Event("loss", fit, iteration, name, value);
  }

  static Event end(Fit fit, Throwable failure) {
    return new Event("end", fit, 0, failure == null ? null : String.valueOf(failure), 0);
  }

  /** Set once, when the event is kept. */
  void setSeq(long number) {
    seq = number;
  }

  long seq() {
    return seq;
  }

  void write(Json json) {
    json.open().field("event", kind).field("seq", seq).field("job", fit.job());
    switch (kind) {
      case "begin":
        json.field("estimator", fit.estimator()).field("api", fit.api()).field("uid", fit.uid());
        json.field("parent", fit.parent() == null ? null : fit.parent().job());
        json.field("outer", fit.outer());
        writeSession(json);
        if (fit.run() != null) {
          json.field("run", fit.run());
        }
        json.field("unstoppable", fit.stop().obstacle());
        json.field("wrapper", fit.wrapper()).field("convergence", fit.convergence());
        json.field("beginMillis", fit.beginMillis()).field("thread", fit.thread()).key("params").open();
        for (Map.Entry<String, Object> param : fit.params().entrySet()) {
          json.field(param.getKey(), param.getValue());
        }
        json.close();
        break;
      case "loss":
        json.field("iteration", iteration).field("value", value).field("name", text);
        break;
      default:
        json.field("ok", text == null).field("error", shortened(text));
        json.field("stopped", text == null && fit.stop().honoured());
    }
    json.field("nanos", nanos).close();
  }

  /** What the user's session says goes before what the pool says in which the fit began. */
  private void writeSession(Json json) {
    Session session = fit.session();
    Object ofPool = fit.weight() == 1 ? null : (Object) fit.weight();
    json.field("weight", session.weight == null ? ofPool : session.weight);
    if (session.user != null) {
      json.field("user", session.user);
    }
    if (session.name != null) {
      json.field("name", session.name);
    }
    if (session.group != null) {
      json.field("group", session.group);
    }
    if (session.targetLoss != null) {
      json.field("target_loss", session.targetLoss);
    }
  }

  private static String shortened(String error) {
    if (error == null || error.length() <= LONGEST_ERROR) {
      return error;
    }
    // Half a character would make the whole poll undecodable.
    boolean splits = Character.isHighSurrogate(error.charAt(LONGEST_ERROR - 1));
    return error.substring(0, splits ? LONGEST_ERROR - 1 : LONGEST_ERROR);
  }
}
