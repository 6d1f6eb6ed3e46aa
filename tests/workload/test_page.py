"""The demo's page stands alone: one file, opened from a disk in a real browser, which shows every job."""

import re

import pytest
from msgspec.structs import replace

from slaq.workload import measures
from slaq.workload.page import page
from slaq.workload.results import Stage
from tests.page.browser import keep, launched
from tests.workload.test_measures import job, run

HOSTILE = "a</script><script>document.title='owned'</script>"
STAGES = (Stage(HOSTILE, 1.0, (1.0, 1.0), (4.0, 2.0)), Stage("b", 4.0, (4.0,), (8.0,)))


@pytest.fixture(scope="module")
def html() -> str:
    jobs = (job(HOSTILE), job("b", arrived_s=2.0))
    runs = [run(*jobs), run(*jobs, policy="spark-fair")]
    return page([replace(each, stages=STAGES) for each in runs], "Two <jobs>", ["A fact."])


def test_cores_held_are_the_tasks_that_ran_averaged_over_each_step() -> None:
    held = measures.cores_held(replace(run(job()), stages=STAGES), 8.0, points=4)
    assert held == [
        (0.0, {HOSTILE: 1.0}),
        (2.0, {HOSTILE: pytest.approx(1.0)}),
        (4.0, {HOSTILE: 0.0, "b": pytest.approx(1.0)}),
        (6.0, {"b": pytest.approx(1.0)}),
    ]
    assert measures.cores_held(run(job()), 8.0) == []


def test_the_page_needs_nothing_from_elsewhere(html: str) -> None:
    assert not re.search(r"<link|\ssrc=|@import|\bimport\(", html)
    assert "default-src 'none'" in html
    assert "unsafe" not in html.partition("<style>")[0]
    assert "Two &lt;jobs&gt;" in html
    assert HOSTILE not in html


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_opened_from_a_disk_it_shows_both_policies_on_one_time_axis(html: str, tmp_path, scheme) -> None:
    file = tmp_path / "demo.html"
    file.write_text(html, "utf-8")
    wrong: list[str] = []
    with launched() as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900}, color_scheme=scheme)
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("console", lambda said: wrong.append(said.text) if said.type in ("error", "warning") else None)
        requests: list[str] = []
        tab.on("request", lambda request: requests.append(request.url))
        tab.goto(file.as_uri())
        assert tab.title() == "Two <jobs>"
        assert tab.locator(".chart canvas").count() == 5, "loss, cores under each policy, and two jobs"
        assert tab.get_by_text("A fact.").is_visible()
        assert tab.locator(".bars tr").count() == 2
        tab.locator(".u-over").nth(1).hover(position={"x": 200, "y": 100})
        assert tab.locator(".tip:visible").count() == 3, "charts of the stream share their cursor"
        keep(tab, tmp_path, f"demo-{scheme}")
        tab.set_viewport_size({"width": 360, "height": 740})
        tab.mouse.move(0, 0)
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        keep(tab, tmp_path, f"demo-phone-{scheme}")
    assert wrong == []
    assert requests == [file.as_uri()]
