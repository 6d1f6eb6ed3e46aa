"""All nine algorithms on real Spark, tiny: they train, their losses are seen, and a policy changes no model."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from slaq.workload import measures
from slaq.workload.algorithms import ALGORITHMS, generated
from slaq.workload.event_log import event_log
from slaq.workload.files import real_data
from slaq.workload.replay import stream_of
from slaq.workload.results import StreamRun
from slaq.workload.run import cached_frames, run_stream
from slaq.workload.session import session
from slaq.workload.stream import poisson

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.spark, pytest.mark.slow]

STREAM = poisson(9, 0.0, seed=1, length=0.15)


@pytest.fixture(scope="module")
def spark() -> "Iterator[SparkSession]":
    with event_log() as logged:
        started = session("FAIR", cores=2, memory="1g", more=logged)
        yield started
        started.stop()


@pytest.fixture(scope="module")
def runs(spark: "SparkSession") -> dict[str, StreamRun]:
    frames = cached_frames(STREAM, lambda name: generated(spark, name, 0.02))
    return {policy: run_stream(spark, policy, STREAM, frames) for policy in ("spark-fair", "slaq")}


def test_every_algorithm_of_the_paper_trains_and_shows_its_losses(runs: dict[str, StreamRun]) -> None:
    for run in runs.values():
        assert [job.error for job in run.jobs] == [None] * 9
        for job in run.jobs:
            assert len(job.losses) >= 3, job.name
            assert job.losses[-1] < job.losses[0], job.name
            assert list(job.times_s) == sorted(job.times_s)
            assert job.arrived_s <= job.times_s[0] <= job.times_s[-1] <= job.ended_s + 0.5


def test_a_policy_changes_when_not_what(runs: dict[str, StreamRun]) -> None:
    assert measures.final_loss_difference(runs["spark-fair"], runs["slaq"]) < 1e-6
    for mine, theirs in zip(runs["slaq"].jobs, runs["spark-fair"].jobs, strict=True):
        np.testing.assert_allclose(mine.model, theirs.model, rtol=1e-4, atol=1e-6, err_msg=mine.name)


def test_only_slaq_grants_cores(runs: dict[str, StreamRun]) -> None:
    assert runs["spark-fair"].samples == ()
    granted = {sample.job for sample in runs["slaq"].samples if sample.cores is not None}
    assert granted
    assert granted <= {job.name for job in STREAM}


def test_work_is_accounted_for(runs: dict[str, StreamRun]) -> None:
    for run in runs.values():
        assert 0.0 < run.held_core_s <= 2 * run.makespan_s + 1.0
        assert run.cpu_s is None or run.cpu_s > 0.0


def test_every_task_is_recorded_under_every_policy(runs: dict[str, StreamRun]) -> None:
    for run in runs.values():
        held = sum(end - begin for s in run.stages for begin, end in zip(s.launched_s, s.finished_s, strict=True))
        assert held == pytest.approx(run.held_core_s, abs=0.05)
        assert {stage.job for stage in run.stages} == {job.name for job in STREAM}
        assert min(stage.submitted_s for stage in run.stages) >= 0.0
        assert len(stream_of(run).scripts) == 9
    assert len(runs["slaq"].stages) == len(runs["spark-fair"].stages)


def test_generated_data_depends_on_nothing_but_the_seed(spark: "SparkSession") -> None:
    for name in ALGORITHMS:
        first, again = (generated(spark, name, 0.001).orderBy("id").limit(3).collect() for _ in range(2))
        assert first == again


def test_real_data_goes_to_the_algorithms_it_suits(spark: "SparkSession", tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    lines = [f"{random.choice([-1, 1])} 1:{random.random():.3f} 3:1" for _ in range(40)]
    (tmp_path / "two.libsvm").write_text("\n".join(lines))
    rows = [f"{random.random()},{random.random()},{random.random()}" for _ in range(40)]
    (tmp_path / "years.csv").write_text("\n".join(rows))
    (tmp_path / "README.md").write_text("not data")
    load = real_data(spark, tmp_path, most_rows=30)
    binary, numbers = load("SVM"), load("LinReg")
    assert binary is not None
    assert numbers is not None
    assert {row.label for row in binary.collect()} == {0.0, 1.0}
    assert binary.count() == numbers.count() == 30
    assert numbers.first().features.size == 2
    assert load("LDA") is None
