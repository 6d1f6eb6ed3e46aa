"""What the tab in Spark's UI is told of the jobs: lines and cells that no name can break, at most once a second."""

from slaq.driver.status import JobStatus
from slaq.driver.web_tab import JOBS, WebTab


def test_lines_hold_the_page_groups_and_jobs():
    members = [
        JobStatus(f"f{reg}", f"GBT_a (stepSize={reg})", "GBT", group="g", iteration=3, loss=0.5) for reg in (0.1, 0.2)
    ]
    alone = JobStatus("k", "KMeans_b", "KMeans", state="ended", reached=0.987, cores=1.5)
    assert WebTab(("http://a:1/", "http://b:2")).text([*members, alone]) == (
        "http://a:1/ui/\n"
        "GBT_a: 2 jobs\n"
        "stepSize=0.1\trunning\t3\t0.5\tall\t\n"
        "stepSize=0.2\trunning\t3\t0.5\tall\t\n"
        "KMeans_b\tended\t\t\t\t99\n"
    )


def test_without_jobs_and_endpoint_there_is_still_a_line():
    assert WebTab(()).text([]) == "\n"


def test_a_name_is_one_short_cell():
    text = WebTab(()).text([JobStatus("a", "a\tb\nc\ud800" + "x" * 10_000, "custom")])
    (line,) = text.splitlines()[1:]
    assert line.count("\t") == 5
    assert len(line) < 300
    assert text.encode()


def test_the_latest_jobs_are_told():
    jobs = [JobStatus(f"j{n}", f"j{n}", "custom") for n in range(JOBS + 50)]
    lines = WebTab(()).text(jobs).splitlines()[1:]
    assert [len(lines), lines[-1].split("\t")[0]] == [JOBS, f"j{JOBS + 49}"]


def test_it_tells_at_most_once_a_second():
    told = []
    tab = WebTab(())
    for _ in range(3):
        tab.tell(told.append, list)
    assert told == ["\n"]
