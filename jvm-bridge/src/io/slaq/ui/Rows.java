package io.slaq.ui;

/**
 * The board's text as HTML. Everything in it is escaped: jobs are named by whoever submits them.
 *
 * <p>The first line is the address of the scheduler's page, or empty. Each further line has cells, separated by tabs: the
 * heading of a group alone, or label, state, iteration, loss, cores, and the share reached in percent. Every line ends with
 * a line feed; a text without any was never written.
 */
final class Rows {
  private static final String[] HEADINGS = {"Job", "State", "Iteration", "Loss", "Cores", "Reached"};
  /** Older than this, the text is no news. */
  private static final double STALE_SECONDS = 10;

  private Rows() {}

  static String html(String board, double ageSeconds) {
    String[] lines = board.split("\n", -1);
    StringBuilder out = new StringBuilder("<div class=\"col-12\" id=\"slaq\">");
    link(out, lines[0]);
    if (board.isEmpty()) {
      out.append("<p>SLAQ's Python agent has told nothing yet.</p>");
    } else if (ageSeconds > STALE_SECONDS) {
      out.append("<p>SLAQ's Python agent has been silent for ").append((long) ageSeconds).append(" s.</p>");
    }
    if (lines.length > 2) {
      table(out, lines);
    } else if (!board.isEmpty()) {
      out.append("<p>No job has begun yet.</p>");
    }
    return out.append("</div>").toString();
  }

  private static void link(StringBuilder out, String address) {
    if (address.startsWith("http://") || address.startsWith("https://")) {
      out.append("<p><a rel=\"noreferrer\" href=\"").append(escaped(address)).append("\">The scheduler's page</a></p>");
    }
  }

  private static void table(StringBuilder out, String[] lines) {
    out.append("<table class=\"table table-bordered table-sm table-striped\"><thead><tr>");
    for (String heading : HEADINGS) {
      out.append("<th scope=\"col\">").append(heading).append("</th>");
    }
    out.append("</tr></thead><tbody>");
    for (int number = 1; number < lines.length - 1; number++) {
      row(out, lines[number].split("\t", -1));
    }
    out.append("</tbody></table>");
  }

  private static void row(StringBuilder out, String[] cells) {
    if (cells.length < HEADINGS.length) {
      out.append("<tr><th scope=\"rowgroup\" colspan=\"").append(HEADINGS.length).append("\"><bdi>");
      out.append(escaped(cells[0])).append("</bdi></th></tr>");
      return;
    }
    out.append("<tr><td><bdi>").append(escaped(cells[0])).append("</bdi></td>");
    for (int place = 1; place < HEADINGS.length - 1; place++) {
      out.append("<td>").append(escaped(cells[place])).append("</td>");
    }
    String reached = escaped(cells[HEADINGS.length - 1]);
    out.append("<td>");
    if (!reached.isEmpty()) {
      out.append("<progress max=\"100\" value=\"").append(reached).append("\"></progress> ").append(reached).append(" %");
    }
    out.append("</td></tr>");
  }

  private static String escaped(String text) {
    StringBuilder out = new StringBuilder(text.length() + 16);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '&':
          out.append("&amp;");
          break;
        case '<':
          out.append("&lt;");
          break;
        case '>':
          out.append("&gt;");
          break;
        case '"':
          out.append("&quot;");
          break;
        case '\'':
          out.append("&#39;");
          break;
        default:
          out.append(c);
      }
    }
    return out.toString();
  }
}
