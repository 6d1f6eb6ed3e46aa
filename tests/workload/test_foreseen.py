"""A stream that ran, run again in the simulator."""

import pytest

from slaq.errors import SlaqError
from slaq.workload.foreseen import foreseen
from slaq.workload.results import Sample
from tests.workload.test_measures import job, run


def test_the_simulator_runs_the_stream_with_the_work_that_was_measured() -> None:
    # Five losses for 10 core-seconds, so one a second on two cores; the third is 90 % of the fall.
    ran = run(job("a", arrived_s=0.0), samples=(Sample(9.0, "a", 2.0, 10.0, 0.0, 0),))
    outcome = foreseen(ran, "fair", 0.1)
    assert outcome.completion_s == pytest.approx(5.0, abs=0.2)
    assert outcome.t90_s == pytest.approx(3.0, abs=0.2)


def test_jobs_that_share_the_cores_take_longer() -> None:
    samples = tuple(Sample(9.0, name, 1.0, 10.0, 0.0, 0) for name in "ab")
    both = foreseen(run(job("a", 0.0), job("b", 0.0), samples=samples), "fair", 0.1)
    assert both.completion_s == pytest.approx(10.0, abs=0.4)


def test_without_the_work_there_is_nothing_to_simulate() -> None:
    with pytest.raises(SlaqError, match="has no samples of the work"):
        foreseen(run(job("a"), policy="spark-fair"), "fair", 1.0)
