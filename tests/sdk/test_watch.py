"""`slaq.watch()`: live in a real kernel, drawn by a real browser, a table where the extra is missing."""

import itertools
import json
import sys
import threading
import time
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

import slaq
from slaq.driver.status import JobStatus
from slaq.sdk.live.bundle import script, style
from slaq.sdk.live.shown import JOBS, POINTS, curve, shown
from slaq.sdk.table import JobTable
from tests.page.browser import Watched, keep, launched

HOSTILE = "<img src=x onerror=alert(1)>\u202e" + "x" * 10_000


def fit(number, state="running", losses=(4.0, 2.0, 1.0), **more):
    given = {"group": "search", "reached": 0.8, "iterations_to_90": 2.0, "iterations_to_95": 5.0, "cores": 1.5} | more
    name = f"LogisticRegression_a1 (regParam={number / 10})"
    last = {"iteration": len(losses) - 1, "loss": losses[-1], "losses": tuple(losses)} if losses else {}
    return JobStatus(f"fit-{number}", name, "LogisticRegression", state, **last, **given)


def test_members_of_a_group_are_told_apart_by_their_parameters():
    seen = shown([fit(1), fit(2, "ended"), JobStatus("k", "KMeans_b2", "KMeans")])
    assert [(group["heading"], [job["label"] for job in group["jobs"]]) for group in seen["groups"]] == [
        ("LogisticRegression_a1", ["regParam=0.1", "regParam=0.2"]),
        ("", ["KMeans_b2"]),
    ]
    assert (seen["running"], seen["ended"]) == (2, 1)


def test_what_is_sent_stays_small_whatever_there_is():
    long = tuple(1.0 / (k + 1) for k in range(1024))
    jobs = [fit(k, "ended", losses=long) for k in range(2000)]
    seen = shown([*jobs, fit(9000, losses=long)])
    rows = [job for group in seen["groups"] for job in group["jobs"]]
    assert [len(rows), rows[-1]["id"], rows[0]["id"]] == [JOBS, "fit-9000", "fit-1941"]
    assert len(json.dumps(seen)) < 250_000
    named = shown([JobStatus("a", HOSTILE, "custom")])["groups"][0]["jobs"][0]
    assert len(named["label"]) <= 200
    assert named["label"].isprintable()


def test_a_curve_ends_with_the_latest_iteration_and_keeps_both_ends():
    assert curve(fit(1, losses=(3.0, 2.0))) == [(0, 3.0), (1, 2.0)]
    points = curve(JobStatus("a", "a", "custom", iteration=5000, losses=tuple(map(float, range(1024)))))
    assert (points[0], points[-1], len(points)) == ((3977, 0.0), (5000, 1023.0), POINTS)
    assert curve(JobStatus("a", "a", "custom")) == []


def test_without_the_extra_there_is_the_table_and_a_hint(monkeypatch, caplog):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "slaq.sdk.live.widget", raising=False)
    with slaq.job("mine"):
        slaq.report(1.0)
        assert isinstance(slaq.watch(), JobTable)
        slaq.watch()
    assert caplog.text.count("pip install 'slaq[notebook]'") == 1


def test_it_rests_when_the_last_view_is_closed_and_goes_on_with_the_next():
    from slaq.sdk.live.widget import LiveView

    view = LiveView(lambda: shown([fit(1)]))
    assert not view.following, "nobody looks yet"
    view._repr_mimebundle_()
    assert view.following
    for name, opened, following in [("a", True, True), ("b", True, True), ("a", False, True), ("b", False, False)]:
        view._told(view, {"view": name, "open": opened}, [])
        assert view.following == following
    view._told(view, {"view": "c", "open": True}, [])
    assert view.following
    view.close()
    deadline = time.monotonic() + 5.0
    while any(thread.name == "slaq-watch" for thread in threading.enumerate()):
        assert time.monotonic() < deadline
        time.sleep(0.05)


CELLS = (
    "import time, slaq",
    "view = slaq.watch(); view",
    """with slaq.job("live", max_iterations=40):
    for k in range(35):
        slaq.report(1.0 / (k + 1))
        time.sleep(0.1)
time.sleep(1.2)""",
    "time.sleep(2.5)",
    "print(slaq.watch() is view, view.following)",
    "view.close(); print(view.following, slaq.watch() is view)",
)


class Recorded(NotebookClient):
    """Notes when a message changes the widget, and what it says."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] == "comm_msg" and "seen" in msg["content"]["data"].get("state", {}):
            self.updates.append((time.monotonic(), cell_index, msg["content"]["data"]["state"]["seen"]))
        return super().process_message(msg, cell, cell_index)


@pytest.mark.slow
def test_a_real_kernel_sends_changes_once_a_second_also_while_a_cell_trains(tmp_path, monkeypatch):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    monkeypatch.setenv("PYTHONPATH", str(Path(slaq.__file__).parents[1]))
    client = Recorded(notebook, timeout=60, resources={"metadata": {"path": str(tmp_path)}})
    client.updates = []
    client.execute()
    while_training = [(at, seen) for at, cell, seen in client.updates if cell == 2]
    assert 3 <= len(while_training) <= 6
    gaps = [later[0] - sooner[0] for sooner, later in itertools.pairwise(while_training)]
    assert min(gaps) > 0.8
    rows = [seen["groups"][0]["jobs"][0] for _, seen in while_training]
    assert rows[0]["state"] == "running"
    assert [rows[-1]["state"], rows[-1]["iteration"], len(rows[-1]["curve"])] == ["ended", 34, 35]
    assert [cell for _, cell, _ in client.updates if cell == 3] == [], "nothing changes, nothing is sent"
    assert "application/vnd.jupyter.widget-view+json" in notebook.cells[1].outputs[0]["data"]
    assert [cell.outputs[0]["text"] for cell in notebook.cells[4:]] == ["True True\n", "False False\n"]


HOST = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>cell</title><style>STYLE</style></head>
<body>
<div id="cell"></div><script type="module">
import widget from "./widget.js";
const listeners = new Set();
window.told = [];
window.model = {
  seen: SEEN,
  get(name) { return name === "seen" ? this.seen : undefined; },
  on(_, listener) { listeners.add(listener); },
  off(_, listener) { listeners.delete(listener); },
  send(content) { window.told.push(content); },
  change(seen) { this.seen = seen; for (const listener of listeners) listener(); },
  listeners,
};
window.end = widget.render({ model: window.model, el: document.getElementById("cell") });
window.ready = true;
</script></body></html>"""


@pytest.fixture(scope="module")
def browser():
    with launched() as found:
        yield found


@pytest.fixture
def cell(browser):
    """A page that is to the widget's script what a notebook's front end is: a model and an element."""
    watched = Watched(browser, "http://cell.test")

    def show(seen):
        page = HOST.replace("STYLE", style()).replace("SEEN", json.dumps(seen).replace("<", "\\u003c"))
        icon = {"status": 204, "body": ""}
        watched.page.route("**/favicon.ico", lambda route: route.fulfill(**icon))
        watched.page.route("**/widget.js", lambda route: route.fulfill(body=script(), content_type="text/javascript"))
        watched.page.route("http://cell.test/", lambda route: route.fulfill(body=page, content_type="text/html"))
        watched.open()
        watched.page.wait_for_function("window.ready")
        return watched.page

    yield show
    watched.close()


@pytest.mark.slow
def test_a_browser_draws_the_jobs_and_follows_them(cell, tmp_path):
    page = cell(shown([]))
    assert page.get_by_text("No fit has begun yet.").is_visible()
    losses = tuple(2.0**-k + 1.0 for k in range(12))
    for upto in (3, 8, 12):
        jobs = [
            fit(1, losses=losses[:upto]),
            fit(2, losses=losses[: upto - 1], cores=0.5),
            JobStatus("x", HOSTILE, "c"),
        ]
        page.evaluate("seen => window.model.change(seen)", shown(jobs))
        page.wait_for_timeout(60)
    assert page.locator(".slaq-rows tbody tr").count() == 4, "two candidates under a heading, and another job"
    first = page.locator(".slaq-rows tbody tr").nth(1).inner_text().split("\t")
    assert first[:5] == ["regParam=0.1", "running", "11", "1.0005", "1.50"]
    assert first[5].strip().startswith("80 %")
    assert page.locator("canvas").count() == 2
    assert page.evaluate("getComputedStyle(document.querySelector('.u-legend')).color") == "rgb(27, 31, 36)"
    keep(page, tmp_path, "notebook")
    page.get_by_role("button", name="regParam=0.1").focus()
    page.keyboard.press("Enter")
    page.get_by_text("Loss of LogisticRegression_a1 (regParam=0.1)").wait_for()
    assert page.evaluate("document.activeElement.textContent") == "regParam=0.1", "the focus stays"
    page.evaluate("seen => window.model.change(seen)", shown([fit(1, "ended", losses=losses)]))
    assert page.get_by_text("0 running, 1 ended").is_visible()
    page.evaluate("window.end()")
    assert [told["open"] for told in page.evaluate("window.told")] == [True, False]
    assert page.evaluate("window.model.listeners.size") == 0
