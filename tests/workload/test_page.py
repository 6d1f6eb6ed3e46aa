"""The page stands alone and shows every job."""

import re
from html.parser import HTMLParser

from slaq.workload.page import page
from slaq.workload.results import Sample
from slaq.workload.svg import line_chart
from tests.workload.test_measures import job, run


def test_the_page_needs_nothing_from_elsewhere() -> None:
    samples = (Sample(1.0, "a<b", 1.5, 1.0, 0.0, 1), Sample(2.0, "a<b", 0.5, 2.0, 0.0, 1))
    html = page([run(job("a<b"), samples=samples), run(job("a<b"), policy="spark-fair")], "Nine jobs", ["A fact."])
    HTMLParser().feed(html)
    assert not re.search(r"https?://|<script|<link|src=", html)
    assert "a&lt;b" in html
    assert "a<b" not in html
    assert html.count("<svg") == 4
    assert "A fact." in html


def test_a_chart_without_points_is_still_a_picture() -> None:
    assert line_chart({"nothing": []}, "x", "y").startswith("<svg")
