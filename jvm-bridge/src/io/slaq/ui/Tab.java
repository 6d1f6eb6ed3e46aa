package io.slaq.ui;

import io.slaq.bridge.Board;
import org.apache.spark.SparkContext;
import org.apache.spark.ui.SparkUI;
import org.apache.spark.ui.SparkUITab;
import org.apache.spark.ui.WebUIPage;
import scala.Option;

/**
 * The tab SLAQ of an application's UI: attached as Spark attaches its own, so Spark's filters and ACLs apply.
 *
 * <p>The first failure takes it out again.
 */
public final class Tab extends SparkUITab {
  private static final String NAME = "SLAQ";

  private final SparkUI ui;
  private boolean attached;

  private Tab(SparkUI ui) {
    super(ui, NAME);
    this.ui = ui;
  }

  /** Called by name, from the board; the answer takes the tab out again. */
  public static Runnable attach(SparkContext sc, Board board) throws ReflectiveOperationException {
    Option<SparkUI> ui = sc.ui();
    if (ui.isEmpty()) {
      return () -> {};
    }
    Tab tab = new Tab(ui.get());
    WebUIPage page = PageClass.make(new Page(tab, board));
    tab.attachPage(page);
    tab.ui.attachTab(tab);
    tab.attached = true;
    return tab::detach;
  }

  /** The page could not be made. Spark's UI is asked to forget it from another thread than the one it answers in. */
  void failed(Throwable cause) {
    Board.failed("its page failed", cause);
    Thread thread = new Thread(this::detachQuietly, "slaq-tab");
    thread.setDaemon(true);
    thread.start();
  }

  private void detachQuietly() {
    try {
      detach();
    } catch (Throwable t) {
      Board.failed("it could not be removed", t);
    }
  }

  private synchronized void detach() {
    if (attached) {
      attached = false;
      ui.detachTab(this);
    }
  }
}
