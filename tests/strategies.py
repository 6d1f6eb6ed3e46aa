"""Hypothesis strategies shared by the tests: jobs, histories and outlooks of every shape."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from slaq import policy
from slaq.model import Decision, FloatArray, History, IntArray, Job, Report, Snapshot

any_loss = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.floats(-10, 10),
    st.sampled_from([0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")]),
)
any_cost = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.floats(0.001, 100))
reports = st.builds(
    Report,
    loss=st.none() | any_loss,
    iteration=st.none() | st.integers(0, 40),
    work_core_s=st.none() | any_cost,
    serial_s=st.none() | any_cost,
)


def decided(name: str, snapshot: Snapshot) -> Decision:
    """What a policy decides that remembers nothing yet."""
    chosen = policy.get(name)
    return chosen.allocate(snapshot, chosen.memory)[0]


@st.composite
def histories(draw: st.DrawFn) -> History:
    history = History()
    for report in draw(st.lists(reports, max_size=12)):
        history = history.add(report)
    return history


@dataclass(frozen=True)
class TableOutlook:
    """An outlook read from tables (jobs × cores), of any shape: not concave, not even monotone."""

    reductions: FloatArray
    losses: FloatArray

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.reductions[job, cores.astype(int) % self.reductions.shape[1]]

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.losses[job, cores.astype(int) % self.losses.shape[1]]

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.reductions.max(axis=1, initial=0.0)[job] * cores

    def worked(self, job: IntArray, cores: FloatArray) -> FloatArray:
        return self.ahead(job, cores)

    def work_until(self, share: float) -> FloatArray:
        return self.until(share)

    def reached(self) -> FloatArray:
        return 1.0 - self.losses[:, 0] / np.maximum(self.losses.max(axis=1), 1.0)

    def until(self, share: float) -> FloatArray:
        return share * self.losses.max(axis=1)


@st.composite
def jobs(draw: st.DrawFn, name: str, *, plain: bool = False) -> Job:
    cap = draw(st.sampled_from([float("inf"), 1.0, 2.0, 5.0, 2.5]) | st.integers(1, 30).map(float))
    weight = draw(st.sampled_from([1.0, 1.0, 0.1, 3.0]))
    if plain:
        return Job(name, weight=weight, max_cores=float("inf") if cap == 2.5 else cap)
    return Job(
        name,
        weight=weight,
        max_cores=cap,
        reserved_cores=draw(st.sampled_from([0.0, 0.0, 0.0, 2.0, 7.5])),
        ml=draw(st.sampled_from([True, True, True, False])),
        waited=draw(st.integers(0, 20)),
        arrived_s=draw(st.floats(0, 100)),
        attained_core_s=draw(st.sampled_from([0.0, 1.0, 50.0, 1e9])),
    )


@st.composite
def snapshots(
    draw: st.DrawFn, *, plain: bool = False, crowd: bool = False, max_jobs: int = 12, max_cores: int = 40
) -> Snapshot:
    """Any snapshot; `plain`: what Algorithm 1 speaks of, training jobs of equal standing with jobs ≤ cores;
    `crowd`: more jobs than cores."""
    count = draw(st.integers(2 if crowd else 1 if plain else 0, max_jobs))
    members = tuple(draw(jobs(f"job-{i}", plain=plain)) for i in range(count))
    cores = draw(st.integers(count if plain else 0, count - 1 if crowd else max_cores))
    # Few distinct values, so that ties are common.
    grain = draw(st.sampled_from([1, 3, 1000]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    table = rng.integers(0, grain + 1, size=(2, count, max_cores + 2)) / grain
    if draw(st.booleans()):
        table = np.cumsum(np.sort(table, axis=2)[:, :, ::-1], axis=2)
    return Snapshot(members, cores, TableOutlook(table[0], table[1]))
