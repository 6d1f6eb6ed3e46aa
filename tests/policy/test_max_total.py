"""max-total against the paper's Algorithm 1, written down literally."""

import numpy as np
import pytest
from hypothesis import given, settings

from slaq.bench._algorithm_1 import algorithm_1
from slaq.model import Job, Snapshot
from tests.strategies import TableOutlook, decided, snapshots


def literal(snap: Snapshot) -> dict[str, float]:
    def reduction(job: int, cores: int) -> float:
        return float(snap.outlook.reduction(np.array([job]), np.array([float(cores)]))[0])

    weights = [job.weight for job in snap.jobs]
    alloc = algorithm_1(reduction, weights, [job.max_cores for job in snap.jobs], snap.cores)
    return {job.id: float(cores) for job, cores in zip(snap.jobs, alloc, strict=True)}


@given(snap=snapshots(plain=True, max_jobs=15, max_cores=120))
@settings(max_examples=300, deadline=None)
def test_it_equals_algorithm_1_on_any_outlook(snap):
    assert decided("max-total", snap).cores == literal(snap)


def test_it_equals_algorithm_1_where_everything_ties():
    snap = Snapshot(tuple(Job(f"job-{i}") for i in range(7)), 500, TableOutlook(np.zeros((7, 600)), np.zeros((7, 600))))
    assert decided("max-total", snap).cores == literal(snap)


def test_the_reason_tells_the_next_core_s_gain_and_the_cutoff():
    table = np.cumsum([[0, 8, 4, 2, 1, 0.5], [0, 3, 1.5, 0.7, 0.3, 0.1]], axis=1)
    snap = Snapshot((Job("steep"), Job("flat")), 5, TableOutlook(table, table))
    decision = decided("max-total", snap)
    assert decision.cores == {"steep": 3.0, "flat": 2.0}
    assert str(decision.reasons["steep"]) == ("3 cores: one more would buy 1, the last core handed out bought 1.5")
    assert str(decision.reasons["flat"]) == ("2 cores: one more would buy 0.7, the last core handed out bought 1.5")


def test_a_weight_multiplies_the_gain():
    table = np.cumsum([[0, 8, 4, 2, 1, 0.5]] * 2, axis=1)
    snap = Snapshot((Job("usual"), Job("double", weight=2)), 5, TableOutlook(table, table))
    assert decided("max-total", snap).cores == {"usual": 2.0, "double": 3.0}


def test_the_fraction_a_fair_share_leaves_goes_to_the_next_in_line():
    table = np.cumsum([[0, 8, 4, 2, 1], [0, 8, 3, 2, 1], [0, 0, 0, 0, 0]], axis=1)
    snap = Snapshot((Job("a"), Job("b"), Job("etl", ml=False)), 4, TableOutlook(table, table))
    cores = decided("max-total", snap).cores
    assert cores == pytest.approx({"a": 1 + 2 / 3, "b": 1.0, "etl": 4 / 3})
