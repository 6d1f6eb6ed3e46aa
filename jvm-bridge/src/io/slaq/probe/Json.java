package io.slaq.probe;

/** Just enough JSON for events and polls: the library that Spark ships differs between its versions. */
public final class Json {
  private final StringBuilder out = new StringBuilder(256);
  private boolean first = true;

  public Json open() {
    return begin('{');
  }

  public Json close() {
    return end('}');
  }

  public Json openArray() {
    return begin('[');
  }

  public Json closeArray() {
    return end(']');
  }

  public Json key(String name) {
    separate();
    string(name);
    out.append(':');
    first = true;
    return this;
  }

  public Json field(String name, Object value) {
    key(name);
    value(value);
    first = false;
    return this;
  }

  /** Appends something that is JSON already. */
  public Json raw(String json) {
    separate();
    out.append(json);
    return this;
  }

  /** Appends a value to an array. */
  public Json item(Object value) {
    separate();
    value(value);
    first = false;
    return this;
  }

  @Override
  public String toString() {
    return out.toString();
  }

  private Json begin(char bracket) {
    separate();
    out.append(bracket);
    first = true;
    return this;
  }

  private Json end(char bracket) {
    out.append(bracket);
    first = false;
    return this;
  }

  private void separate() {
    if (!first) {
      out.append(',');
    }
    first = false;
  }

  private void value(Object value) {
    if (value instanceof Float || value instanceof Double) {
      double number = ((Number) value).doubleValue();
      // A diverged loss has no JSON form; null says that the iteration happened and had no usable value.
      out.append(Double.isFinite(number) ? String.valueOf(value) : "null");
    } else if (value == null || value instanceof Number || value instanceof Boolean) {
      out.append(value);
    } else {
      string(value.toString());
    }
  }

  private void string(String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        out.append('\\').append(c);
      } else if (Character.isSurrogate(c) && !inPair(text, i)) {
        out.append('\ufffd'); // no JSON reader takes half of a character
      } else if (c < ' ' || Character.isSurrogate(c)) {
        out.append(String.format("\\u%04x", (int) c));
      } else {
        out.append(c);
      }
    }
    out.append('"');
  }

  private static boolean inPair(String text, int at) {
    return Character.isHighSurrogate(text.charAt(at))
        ? at + 1 < text.length() && Character.isLowSurrogate(text.charAt(at + 1))
        : at > 0 && Character.isHighSurrogate(text.charAt(at - 1));
  }
}
