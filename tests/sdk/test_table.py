"""`slaq.jobs()` in a notebook: groups told apart by parameters, sparklines, and names that try to be markup."""

from xml.etree import ElementTree

import slaq
from slaq.driver.status import JobStatus
from slaq.sdk.table import JobTable, sparkline


def candidate(reg, **more):
    return JobStatus(f"fit-{reg}", f"LogisticRegression_a1 (regParam={reg})", "LogisticRegression", group="g", **more)


def rows(table):
    tree = ElementTree.fromstring(table._repr_html_())
    return [["".join(cell.itertext()) for cell in row] for row in tree.iter("tr")][1:]


def test_jobs_of_a_group_stand_together_told_apart_by_what_differs():
    other = JobStatus("fit-9", "KMeans_b2", "KMeans")
    table = JobTable([candidate(0.1, loss=0.5, iteration=3), other, candidate(0.2, state="ended", reached=0.97)])
    assert rows(table) == [
        ["LogisticRegression_a1: 2 jobs"],
        ["regParam=0.1", "running", "3", "0.5", "", "all", ""],
        ["regParam=0.2", "ended", "", "", "", "", "97%"],
        ["KMeans_b2", "running", "", "", "", "all", ""],
    ]


def test_hostile_names_stay_text():
    name = "<script>alert(1)</script>\u202e" + "x" * 10_000
    shown = JobTable([JobStatus("a", name, "custom"), JobStatus("b", "b", "custom", state="<b>")])._repr_html_()
    assert "<script" not in shown
    assert "<b>" not in shown
    assert "\u202e" not in shown


def test_a_curve_falls_from_the_top_to_the_bottom():
    points = ElementTree.fromstring(sparkline((4.0, 3.0, 2.0)))[0].attrib["points"]
    assert points == "0.0,1.0 60.0,10.0 120.0,19.0"


def test_curves_of_any_size_are_drawn():
    assert sparkline((1.0,)) == ""
    assert sparkline((1e308, -1e308)).count("nan") == 0
    assert "inf" not in sparkline((1e308, -1e308))
    assert sparkline((2.0, 2.0)).count(",") == 2
    assert sparkline(tuple(float(n) for n in range(1024))).count(",") == 120


def test_jobs_are_still_a_list():
    with slaq.job("mine"):
        slaq.report(1.0)
        jobs = slaq.jobs()
    assert isinstance(jobs, list)
    assert "mine" in jobs._repr_html_()
