"""Hypothesis strategies shared by the tests: jobs, histories and outlooks of every shape."""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

from slaq import policy
from slaq.model import Decision, Expected, FloatArray, History, IntArray, Job, PastFit, Report, Snapshot
from slaq.model.past import SHARES
from slaq.records import Traits

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


_sizes = st.none() | st.floats(0, 1e18)
traits = st.builds(
    Traits,
    params=st.dictionaries(
        st.sampled_from("abc"), st.booleans() | st.floats(-1e9, 1e9) | st.sampled_from(["x", "y"]), max_size=3
    ),
    partitions=_sizes,
    bytes=_sizes,
)
past_fits = st.builds(
    PastFit,
    estimator=st.sampled_from(["KMeans", "LDA"]),
    traits=traits,
    ready_core_s=st.none() | st.floats(0, 1e9),
    work_core_s=st.none() | st.floats(0, 1e9),
    serial_s=st.floats(0, 1e9),
    iterations=st.floats(0, 1000),
    max_iterations=st.none() | st.integers(0, 1000),
    reached=st.just(())
    | st.lists(st.floats(0, 1000), min_size=len(SHARES), max_size=len(SHARES)).map(lambda found: tuple(sorted(found))),
)
_sure = st.floats(0, 1)
expectations = st.builds(
    lambda ready, work, serial, at, sure: Expected(
        ready, sure[0], work, serial, sure[1], *sorted(at), length_sure=sure[2]
    ).packed(),
    st.floats(0, 1e9),
    st.floats(0, 1e9),
    st.floats(0, 1e3),
    st.tuples(*[st.floats(0, 1e5)] * 3),
    st.tuples(_sure, _sure, _sure),
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

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        return np.full(len(self.losses), 0.75), self.until(share)

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
        group=draw(st.sampled_from(["", "", "", "one", "two"])),
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
