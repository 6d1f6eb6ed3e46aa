"""`slaq status` and `slaq job`: what people read, from fixed answers."""

import msgspec
import pytest

from slaq.cli.job import progress
from slaq.protocol import Capacity, JobDetail, Prediction, Standing
from tests.cli.command import slaq
from tests.cli.stub import Stub, running_stub, status, view
from tests.cli.test_help import HEAVY, loaded_by


@pytest.fixture
def stub():
    with running_stub() as server:
        yield server


def answer(stub: Stub, record: object, *arguments: str):
    stub.answer = (200, msgspec.json.encode(record))
    result = slaq(*arguments, "--endpoint", stub.endpoint)
    assert result.code == 0, result
    return result


def test_status_loads_neither_numpy_nor_spark_nor_rich(stub):
    stub.answer = (200, msgspec.json.encode(status()))
    assert not loaded_by("status", "--endpoint", stub.endpoint) & HEAVY


def test_status_counts_jobs_by_state(stub):
    text = answer(stub, status(jobs={"running": 2, "over-quota": 1, "held": 0, "finished": 7}), "status").out
    assert "2 running, 1 over-quota, 7 finished" in text
    assert "none" in answer(stub, status(), "status").out


def test_problems_go_to_stderr_those_of_the_capacity_too(stub):
    result = answer(
        stub, status(problems=["disk full\x1b[2J"], capacity=Capacity(4, "master", "no answer from it")), "status"
    )
    assert result.err == "problem: disk full\\x1b[2J\nproblem: no answer from it\n"


def test_top_counts_the_living_only(stub, monkeypatch):
    from slaq.cli._client import Client
    from slaq.protocol import JobList

    monkeypatch.setattr(Client, "jobs", lambda *_, **__: JobList([], 0))
    text = answer(stub, status(jobs={"running": 2, "idle": 1, "finished": 7}), "top", "--once").out
    assert "2 running, 1 idle; 0 applications" in text
    assert "finished" not in text


@pytest.mark.parametrize(
    ("standing", "sentence"),
    [
        (
            Standing(0.839, 4.2, 9.0, 40.0),
            "reached 83 % of its expected loss reduction, 90 % in about 4 iterations, 95 % in about 9 iterations, "
            "its end in about 40 iterations",
        ),
        (
            Standing(0.92, 0.0, 0.3, 2.0),
            "reached 92 % of its expected loss reduction, 95 % in about 1 iteration, its end in about 2 iterations",
        ),
        (Standing(1.0, 0.0, 0.0, 0.0), "reached 100 % of its expected loss reduction"),
        (
            Standing(0.8999, 1.0, 3.0, 5.0),
            "reached 89 % of its expected loss reduction, 90 % in about 1 iteration, 95 % in about 3 iterations, "
            "its end in about 5 iterations",
        ),
    ],
)
def test_progress_in_words(standing, sentence):
    assert progress(standing) == sentence


def test_a_job_shows_its_group_its_state_and_its_progress(stub):
    prediction = Prediction(0.5, 3.0, None, 0, None, None, Standing(0.5, 8.0, 12.0, 30.0))
    job = view(state="preempted", group="grid", normalised_loss=0.5, began_at=1.0)
    text = answer(stub, JobDetail(job, [], [], None, prediction), "job", "a-1").out
    assert "preempted, began" in text
    assert "grid" in text
    assert "reached 50 % of its expected loss reduction, 90 % in about 8 iterations" in text


def test_of_an_ended_job_progress_is_what_its_last_loss_says(stub):
    job = view(state="finished", normalised_loss=0.25, began_at=1.0, ended_at=9.0)
    text = answer(stub, JobDetail(job, [], [], None, None), "job", "a-1").out
    assert "reached 75 % of its expected loss reduction" in text
    assert "ended after 8.0s" in text
