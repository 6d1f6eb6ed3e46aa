package io.slaq.ui;

import io.slaq.bridge.Board;
import java.lang.reflect.Method;
import java.util.function.UnaryOperator;
import org.apache.spark.ui.UIUtils$;
import scala.runtime.AbstractFunction0;
import scala.xml.Unparsed;

/** The tab's one page, inside the frame that Spark draws around each of its own. */
final class Page implements UnaryOperator<Object> {
  private static final long PATIENCE_MILLIS = 1500;
  private static final String FRAME = "headerSparkPage";
  /** Request, title, content and tab; those after them have defaults, and differ between versions. */
  private static final int OURS = 4;

  private final Tab tab;
  private final Board board;
  private final Method frame;
  private final Object[] defaults;

  Page(Tab tab, Board board) throws ReflectiveOperationException {
    this.tab = tab;
    this.board = board;
    frame = frame();
    defaults = new Object[frame.getParameterCount()];
    for (int place = OURS; place < defaults.length; place++) {
      defaults[place] = UIUtils$.class.getMethod(FRAME + "$default$" + (place + 1)).invoke(UIUtils$.MODULE$);
    }
  }

  /** A request in, the nodes of a page out; the types of both depend on the version of Spark. */
  @Override
  public Object apply(Object request) {
    try {
      String html = Rows.html(board.look(PATIENCE_MILLIS), board.ageSeconds());
      Object[] arguments = defaults.clone();
      arguments[0] = request;
      arguments[1] = "SLAQ";
      arguments[2] = new Content(html);
      arguments[3] = tab;
      return frame.invoke(UIUtils$.MODULE$, arguments);
    } catch (Throwable t) {
      if (t instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      } else {
        tab.failed(t);
      }
      return new Unparsed("<p>SLAQ has nothing to show here; the driver's log says why.</p>");
    }
  }

  private static Method frame() throws NoSuchMethodException {
    for (Method method : UIUtils$.class.getMethods()) {
      if (method.getName().equals(FRAME) && method.getParameterCount() >= OURS) {
        return method;
      }
    }
    throw new NoSuchMethodException("org.apache.spark.ui.UIUtils." + FRAME);
  }

  /** A node is a sequence of one node, in every version of Scala's library. */
  private static final class Content extends AbstractFunction0<Object> {
    private final String html;

    Content(String html) {
      this.html = html;
    }

    @Override
    public Object apply() {
      return new Unparsed(html);
    }
  }
}
