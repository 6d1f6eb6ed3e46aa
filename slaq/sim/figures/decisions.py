"""Figure 10c: the time of a whole decision."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec.structs import replace

from slaq.engine import EpochEnded, JobJoined, JobReported, State, run
from slaq.model import Job, Report
from slaq.sim.curves import Curve

POINTS = 50
EPOCH_S = 3.0


def decision_times(curves: Sequence[Curve], jobs: Sequence[int], cores: Sequence[int]) -> dict[str, Any]:
    """CPU seconds of one decision, with POINTS losses a job; the faster of two, because the first warms up."""
    found: dict[str, list[float]] = {str(count): [] for count in cores}
    for number in jobs:
        state = _state(curves, number)
        for count in cores:
            there = replace(state, cores=count)
            found[str(count)].append(min(_cpu_s(there) for _ in range(2)))
    return {"jobs": list(jobs), "cpu_s": found}


def _state(curves: Sequence[Curve], jobs: int) -> State:
    work_core_s = np.random.default_rng(0).uniform(0.5, 20.0, size=jobs).tolist()
    events: list[JobJoined | JobReported] = []
    for i in range(jobs):
        losses = curves[i % len(curves)].losses[:POINTS]
        reports = tuple(Report(loss, k, work_core_s[i], 0.0) for k, loss in enumerate(losses))
        events += [JobJoined(0.0, Job(f"job-{i}")), JobReported(0.0, f"job-{i}", reports)]
    state, _ = run(State(epoch_s=EPOCH_S), events)
    return state


def _cpu_s(state: State) -> float:
    begun = time.process_time()
    run(state, [EpochEnded(EPOCH_S)])
    return time.process_time() - begun
