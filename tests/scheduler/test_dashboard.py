"""The dashboard for Grafana asks only for metrics that the scheduler has, and loads as it is."""

import json
import re
from itertools import combinations
from pathlib import Path

import pytest

from tests.scheduler.support import job
from tests.scheduler.web import Web

DASHBOARD = json.loads((Path(__file__).parents[2] / "conf" / "grafana-dashboard.json").read_text("utf-8"))
PANELS = DASHBOARD["panels"]
ASKED = [target["expr"] for panel in PANELS for target in panel["targets"]]
VARIABLES = {each["name"]: each for each in DASHBOARD["templating"]["list"]}


@pytest.fixture(scope="module")
def exposed() -> dict[str, set[str]]:
    """The labels of every metric that a scheduler with a training job exposes, by its name."""
    web = Web()
    web.post_beat(job("1", 3.0, 2.0, 1.5, 1.2), user="alice")
    web.epoch()
    found: dict[str, set[str]] = {}
    for line in web.ask("GET", "/metrics").text.splitlines():
        if not line.startswith("#"):
            name, labels = re.match(r"(\w+)(?:\{(.*)\})?", line).groups()
            found.setdefault(name, set()).update(re.findall(r"(\w+)=", labels or ""))
    return found


@pytest.mark.parametrize("expression", [*ASKED, VARIABLES["instance"]["definition"]])
def test_every_metric_that_is_asked_for_is_there_with_its_labels(exposed, expression):
    asked = re.findall(r"\b(?:slaq|process)_\w+", expression)
    assert asked
    assert set(asked) <= exposed.keys()
    labels = {label for inside in re.findall(r"\{(.*?)\}", expression) for label in re.findall(r"(\w+)=~?", inside)}
    grouped = {label for inside in re.findall(r"\bby \((.*?)\)", expression) for label in inside.split(", ")}
    # Prometheus itself adds the instance that it scraped.
    assert labels | grouped <= {"instance"} | set().union(*(exposed[name] for name in asked))


def test_every_metric_of_the_scheduler_is_on_the_dashboard(exposed):
    shown = {name for expression in ASKED for name in re.findall(r"\bslaq_\w+", expression)}
    assert {name for name in exposed if name.startswith("slaq_")} - shown == {"slaq_epochs_total"}


def test_states_that_are_asked_for_are_states_of_jobs(exposed):
    states = set(Web().ask("GET", "/v1/status").json()["jobs"])
    asked = {state for each in ASKED for found in re.findall(r'state=~"(.*?)"', each) for state in found.split("|")}
    assert asked == states
    assert "state" in exposed["slaq_jobs"]


def test_it_is_a_dashboard_as_grafana_writes_them():
    assert DASHBOARD["schemaVersion"] >= 36
    assert "id" not in DASHBOARD, "a number of one Grafana; it would take another dashboard's place"
    assert re.fullmatch(r"[\w-]{1,40}", DASHBOARD["uid"])
    assert len({panel["id"] for panel in PANELS}) == len(PANELS)
    for panel in PANELS:
        assert panel["type"] in ("timeseries", "stat")
        assert panel["title"]
        assert {"defaults", "overrides"} <= panel["fieldConfig"].keys()
        references = [target["refId"] for target in panel["targets"]]
        assert len(set(references)) == len(references)


def test_no_panel_covers_another():
    for panel in PANELS:
        place = panel["gridPos"]
        assert place["w"] > 0
        assert place["h"] > 0
        assert 0 <= place["x"] <= place["x"] + place["w"] <= 24
    for one, other in combinations([panel["gridPos"] for panel in PANELS], 2):
        apart_x = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
        apart_y = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
        assert apart_x or apart_y


def test_it_names_no_data_source_of_one_grafana_and_every_variable_it_uses():
    assert VARIABLES["datasource"]["type"] == "datasource"
    assert VARIABLES["datasource"]["query"] == "prometheus"
    sources = [panel["datasource"] for panel in PANELS] + [each["datasource"] for p in PANELS for each in p["targets"]]
    assert all(source == {"type": "prometheus", "uid": "${datasource}"} for source in sources)
    used = {name for each in ASKED for name in re.findall(r"\$(\w+)", each)} - {"__rate_interval"}
    assert used <= VARIABLES.keys()
