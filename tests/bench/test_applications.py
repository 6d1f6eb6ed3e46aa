"""Two real applications on a real cluster together keep to its cores; the benchmark measures it at length."""

import pytest

from slaq.bench.applications import BURST_S, measure, rows

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(400)]

CORES = 2


def test_two_applications_share_the_cores_and_leave_none_idle():
    run = measure(count=2, seconds=10.0, workers=1, cores=CORES, jobs=2, task_ms=100, epoch_s=1.0)
    # Each has as many slots as there are cores: without SLAQ twice as many tasks would run all the time.
    assert run["mean"] < 1.25 * CORES
    assert run["surplus_s"] < 3.0 * BURST_S * CORES
    assert run["mean"] > 0.6 * CORES
    assert run["longest_idle_s"] < 5.0
    assert {row["applications"] for row in rows([run], epoch_s=1.0)} == {2}
