"""Tables at the widths of ordinary screens, the ids in them, and groups told apart."""

import io
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from slaq.cli._candidates import Group, grouped, told_apart
from slaq.cli._client import Client
from slaq.cli._forecast import forecast
from slaq.cli._ids import LEAST_OF_APP, meant, short_ids
from slaq.cli._states import COLOURS
from slaq.cli._tables import jobs_table
from slaq.protocol import JobDetail, JobList, Prediction, Standing
from slaq.records import ENDINGS, LIVING
from tests.cli.command import slaq
from tests.cli.stub import status, view

APP = "k3j2m8q0z4x1"


def fit(number: int, name: str = "LogisticRegression_5f2a", app: str = APP, **changes):
    known = {"user": "alexandra.hamilton", "estimator": "LogisticRegression", "state": "over-quota", "iteration": 1234}
    losses = {"loss": -123456.0 - number, "normalised_loss": 0.25, "cores": 1234.25 + number, "began_at": 1.0}
    return view(**{"id": f"{app}-fit-{number}", "app": app, "name": name, **known, **losses, **changes})


def search(*params: str, group: str = "CrossValidator_77aa"):
    return [fit(n, f"LogisticRegression_5f2a ({each})", group=group) for n, each in enumerate(params)]


def screen(jobs, width: int) -> list[str]:
    out = Console(file=io.StringIO(), width=width, force_terminal=True, color_system=None)
    out.print(jobs_table(jobs, 100.0, 4000.0, width))
    return out.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 120])
def test_no_ordinary_screen_hides_id_name_state_loss_and_cores(width):
    jobs = [fit(1), fit(2, "nightly", "b" * 32, state="preempted"), fit(3, id=f"{APP}-{'nightly-sweep-of' * 3}-17")]
    jobs += search("regParam=0.1, maxIter=20", "regParam=0.2, maxIter=20")
    lines = screen(jobs, width)
    assert all(len(line) <= width for line in lines)
    assert lines[0].split()[:2] == ["id", "job"]
    assert {"state", "loss", "cores"} <= set(lines[0].split())
    text = "\n".join(lines)
    for job, short in zip(jobs, short_ids(jobs), strict=True):
        line = next(line for line in lines if line.startswith(f"{short} "))
        assert job.state in line
        assert f"{job.loss:.4g}" in line
        assert f"{job.cores:g}" in line
    for name in ("LogisticRegression", "nightly", "0.1, 20", "0.2, 20") if width == 80 else ("maxIter=20",):
        assert name in text


def test_a_wider_screen_has_more_columns_the_important_first():
    titles = [set(screen([fit(1)], width)[0].split()) for width in (80, 100, 120, 160)]
    assert "iter" in titles[0]
    assert "estimator" not in titles[0]
    assert "user" in titles[2]
    assert "estimator" in titles[3]
    assert all(narrow <= wide for narrow, wide in pairwise(titles))


def test_hostile_names_stay_in_their_line():
    jobs = [fit(1, "[red]x\x1b[2J\n" * 900, user="\u202e" * 50), fit(2)]
    lines = screen(jobs, 80)
    assert len(lines) == 3
    assert all(len(line) <= 80 for line in lines)
    assert "\x1b" not in "".join(lines)


def test_the_table_of_nothing_is_its_head():
    assert len(screen([], 80)) == 1


def test_every_state_has_a_colour():
    assert set(COLOURS) == {*LIVING, *ENDINGS}


def test_ids_are_short_and_can_be_typed_back():
    jobs = [fit(1), fit(17), fit(1, app="k3j2zzzz"), fit(2, id=f"{APP}-nightly-sweep-with-a-long-name.17")]
    assert short_ids([fit(1), fit(17)]) == ["k3j2-fit-1", "k3j2-fit-17"]
    assert short_ids(jobs) == ["k3j2m-fit-1", "k3j2m-fit-17", "k3j2z-fit-1", "k3j2m-nightly-sw…g-name.17"]
    for job, short in zip(jobs, short_ids(jobs), strict=True):
        assert meant(short, jobs) == [job]
        assert meant(short.replace("…", "*"), jobs) == [job]
    assert meant("k3j2-fit-1", jobs) == [jobs[0], jobs[2]]
    assert meant("k3j-fit-1", jobs) == []


@given(
    st.lists(
        st.tuples(st.from_regex(r"[a-c]{6,9}", fullmatch=True), st.from_regex(r"[ab.-]{1,45}", fullmatch=True)),
        unique=True,
        max_size=12,
    )
)
def test_any_short_id_means_its_job(ids):
    jobs = [view(id=f"{app}-{own}", app=app) for app, own in ids]
    shown = short_ids(jobs)
    assert len(set(shown)) == len(jobs)
    for job, short in zip(jobs, shown, strict=True):
        assert job in meant(short, jobs)
        assert len(short.partition("-")[0]) >= LEAST_OF_APP


def test_a_short_id_of_a_living_job_wins_over_one_that_has_ended(monkeypatch):
    jobs = [fit(1, ended_at=5.0, state="finished"), fit(1, app="k3j2zzzz")]
    monkeypatch.setattr(Client, "jobs", lambda *_, **__: JobList(jobs, 2))
    assert Client.find(Client.__new__(Client), "k3j2-fit-1") == "k3j2zzzz-fit-1"


def test_candidates_are_told_apart_by_what_differs():
    group = Group("CrossValidator_77aa", tuple(search("regParam=0.1, maxIter=20", "regParam=0.2, maxIter=5")))
    assert told_apart(group, 40) == (
        "CrossValidator_77aa: LogisticRegression_5f2a",
        ["regParam=0.1, maxIter=20", "regParam=0.2, maxIter=5"],
    )
    line, values = told_apart(group, 10)
    assert (line, values) == ("CrossValidator_77aa: LogisticRegression_5f2a (regParam, maxIter)", ["0.1, 20", "0.2, 5"])


def test_members_that_are_not_copies_of_one_estimator_keep_their_names():
    jobs = (fit(1, "KMeans_1", group="grid"), fit(2, "ALS_2 (rank=3)", group="grid"))
    assert told_apart(Group("grid", jobs), 40) == ("grid", ["KMeans_1", "ALS_2 (rank=3)"])


def test_a_group_stands_where_its_first_job_would_and_never_holds_another_users():
    jobs = [fit(1, group="g"), fit(2), fit(3, group="g"), fit(4, group="g", user="bob")]
    assert [[job.id[-1] for job in group.jobs] for group in grouped(jobs)] == [["1", "3"], ["2"], ["4"]]


def test_the_line_of_a_group_sums_up():
    lines = screen([fit(1, group="g", cores=1.5), fit(2, group="g", cores=2.0, state="finished", ended_at=9.0)], 120)
    assert lines[1].startswith("2 jobs")
    assert {"1", "of", "2", "3.5"} <= set(lines[1].split())


def predicted(**changes) -> JobDetail:
    job = fit(1, loss=0.5, first_loss=1.0, iteration=10, **changes)
    return JobDetail(job, [], [], None, Prediction(0.46, 2.0, None, 0, None, None, Standing(0.5, 20.0, 30.0, 60.0)))


def test_the_forecast_goes_from_the_latest_loss_over_the_milestones_to_the_end():
    expected = [(10.0, 0.5), (12.0, 0.46), (30.0, 0.1), (40.0, 0.05), (70.0, 0.0)]
    assert [(x, pytest.approx(y)) for x, y in forecast(predicted())] == expected


def test_nothing_is_forecast_of_a_job_that_is_over_or_diverged():
    assert forecast(predicted(ended_at=5.0)) == forecast(predicted(diverged=True)) == []


@pytest.mark.parametrize("width", [80, 120])
def test_the_commands_fit_a_terminal(monkeypatch, width):
    jobs = search("regParam=0.1, maxIter=20", "regParam=0.2, maxIter=20")
    monkeypatch.setattr(Client, "jobs", lambda *_, **__: JobList(jobs, 2))
    monkeypatch.setattr(Client, "status", lambda _: status(jobs={"over-quota": 2}))
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("NO_COLOR", "1")
    for command in (("jobs",), ("top", "--once")):
        text = slaq(*command).out
        plain = "".join(part.partition("m")[2] if n else part for n, part in enumerate(text.split("\x1b[")))
        assert all(len(line) <= width for line in plain.splitlines()), plain
        assert "k3j2-fit-0" in plain
        assert "k3j2-fit-1" in plain
