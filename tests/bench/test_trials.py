"""The streams of trials and of deadlines, and what is made of their runs."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from slaq.bench import deadlines, trials
from slaq.bench._arrival import arrival_s
from slaq.config import load
from slaq.records import NO_WISH, Wish
from slaq.workload.results import Sample, Stage, StreamRun, Trained


def test_trials_are_short_declared_and_come_while_best_effort_fits_do():
    stream = trials.mixed(9, 8, 6.0, 1.0, seed=1)
    short = [job for job in stream if job.name.startswith(trials.TRIAL)]
    fits = [job for job in stream if job not in short]
    assert (len(short), len(fits)) == (8, 9)
    assert {job.wish for job in short} == {Wish(kind="te")}
    assert {job.wish for job in fits} == {NO_WISH}
    assert sum(job.iterations for job in short) / 8 < 0.4 * sum(job.iterations for job in fits) / 9
    assert max(job.arrival_s for job in short) < fits[-1].arrival_s
    assert list(stream) == sorted(stream, key=lambda job: job.arrival_s)


def test_every_deadline_job_says_what_its_end_is_worth_and_the_same_seed_draws_the_same():
    stream = deadlines.due(12, 3.0, 1.0, seed=1)
    assert stream == deadlines.due(12, 3.0, 1.0, seed=1)
    assert stream[0].arrival_s == 0.0
    assert stream[-1].arrival_s <= 27.0
    for job in stream:
        worth, urgency, target_s = job.wish.utility
        assert 1.0 <= worth <= 100.0
        assert 0.0 <= urgency <= 2.0
        assert 3.0 <= target_s <= 30.0


def run(policy, *jobs, stages=(), samples=()):
    return StreamRun(policy, 0, 2, jobs, 10.0, 1.0, None, 0.1, None, samples, stages)


def test_a_run_is_worth_the_sum_of_its_ends():
    stream = [replace(job, wish=Wish(None, (10.0, 100.0, 5.0))) for job in deadlines.due(2, 3.0, 1.0, seed=1)]
    early, late = (
        Trained(job.name, job.algorithm, 0.0, end, (), ()) for job, end in zip(stream, (4.0, 9.0), strict=True)
    )
    found = deadlines.judged(run("slaq:oasis", early, late), stream)
    assert found["utility"] == pytest.approx(10.0)
    assert found["of"] == pytest.approx(20.0)
    assert found["by their target"] == 1
    assert found["median s late"] == pytest.approx(1.5)


def test_a_trials_delay_runs_from_its_arrival_to_its_first_task_and_stops_are_counted():
    fit = Trained("01-KMeans", "KMeans", 0.0, 9.0, (1.0,), (1.0,), (1.0, 2.0))
    trial = Trained("trial-01-LDA", "LDA", 3.0, 5.0, (4.0,), (1.0,), (3.0,))
    stages = (Stage("01-KMeans", 0.1, (0.2,), (1.4,)), Stage("trial-01-LDA", 3.2, (3.5, 3.6), (3.7, 3.8)))
    held = tuple(Sample(float(at), "01-KMeans", cores, 0.0, 0.0, 0) for at, cores in enumerate((2.0, 0.0, 0.0, 2.0)))
    slower = replace(fit, model=(1.0, 2.2))
    found = trials.judged(run("x", fit, trial, stages=stages, samples=held), run("spark-fair", slower, trial))
    assert found["trial: s to its first task, p95"] == pytest.approx(0.5)
    assert found["trial: s its first stage waits, p95"] == pytest.approx(0.3)
    assert found["longest task, s"] == pytest.approx(1.2)
    assert found["best effort: times stopped, most"] == 1
    assert found["best-effort models differ by"] == pytest.approx(0.1 * 2.0 / 2.2, rel=0.2)


def test_plans_are_made_in_slots_that_suit_the_stream(monkeypatch):
    monkeypatch.delenv("SLAQ_CONF", raising=False)
    with deadlines.planning_in(1.0):
        assert load().tuning == {"plan_slot_s": 1.0}
    assert load().tuning == {}


def test_an_arrival_among_planned_jobs_is_timed():
    with_it, without = arrival_s(40, 160, 1)
    assert with_it > 0.0
    assert without > 0.0


@pytest.mark.spark
@pytest.mark.slow
def test_the_command_prints_both_sides_of_a_tiny_stream_of_deadlines():
    options = [
        "--jobs",
        "2",
        "--slot",
        "0.5",
        "--length",
        "0.1",
        "--rows",
        "0.05",
        "--policies",
        "slaq:oasis,spark-fair",
    ]
    result = CliRunner().invoke(deadlines.command, [*options, "--format", "json"])
    assert result.exit_code == 0, result.output
    runs = json.loads(result.stdout[result.stdout.index("{") :])["runs"]
    assert [found["policy"] for found in runs] == ["slaq:oasis", "spark-fair"]
    assert all(np.isfinite(found["utility"]) for found in runs)
