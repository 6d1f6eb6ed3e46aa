"""max-min against its definition, core by core."""

import numpy as np
from hypothesis import given, settings

from slaq.model import Job, Snapshot
from slaq.policy.max_min import EVEN_OUT
from tests.strategies import TableOutlook, decided, snapshots


def raise_the_worst(snap: Snapshot) -> dict[str, float]:
    alloc = [1.0] * len(snap.jobs)

    def badness(i: int) -> float:
        loss = float(snap.outlook.loss(np.array([i]), np.array([alloc[i]]))[0])
        return snap.jobs[i].weight * (loss + EVEN_OUT / (1 + alloc[i]))

    for _ in range(snap.cores - len(snap.jobs)):
        able = [i for i, job in enumerate(snap.jobs) if alloc[i] < job.max_cores]
        if able:
            alloc[max(able, key=lambda i: (badness(i), -i))] += 1
    return {job.id: alloc[i] for i, job in enumerate(snap.jobs)}


@given(snap=snapshots(plain=True, max_jobs=10, max_cores=60))
@settings(max_examples=300, deadline=None)
def test_it_always_raises_the_worst_job(snap):
    assert decided("max-min", snap).cores == raise_the_worst(snap)


def test_the_worst_job_is_the_one_with_the_largest_loss():
    losses = np.array([[1, 0.9, 0.8, 0.7, 0.6, 0.5], [0.5, 0.4, 0.3, 0.2, 0.1, 0.0]])
    snap = Snapshot((Job("behind"), Job("ahead")), 5, TableOutlook(losses, losses))
    decision = decided("max-min", snap)
    assert decision.cores == {"behind": 4.0, "ahead": 1.0}
    assert str(decision.reasons["behind"]).startswith("4 cores: raised while among the worst")
