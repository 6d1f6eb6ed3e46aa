package io.slaq.probe;

/** Who started a fit, where one driver serves several users, and what their session says of its fits; null: nothing. */
public final class Session {
  static final Session NONE = new Session(null, null, null, null, null);

  final String user;
  final String name;
  final String group;
  final Double weight;
  final Double targetLoss;

  public Session(String user, String name, String group, Double weight, Double targetLoss) {
    this.user = user;
    this.name = name;
    this.group = group;
    this.weight = weight;
    this.targetLoss = targetLoss;
  }
}
