"""The virtual clock: the engine that schedules real clusters, driven as fast as it decides."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slaq.engine import Allocated, Effect, EpochEnded, Event, JobJoined, PolicyFailed, Predictor, State, run
from slaq.errors import SlaqError
from slaq.model import DEFAULTS, FloatArray, Tuning
from slaq.predict import LEARNED
from slaq.sim.cluster import Cluster
from slaq.sim.timeline import Timeline, TimelineBuilder
from slaq.sim.watch import WatchedPredictor
from slaq.sim.workload import Workload

LEASE_S = 60.0
"""Simulated drivers send a beat every epoch; long epochs get a longer lease."""

Observe = Callable[[Sequence[Event], Sequence[Effect]], None]
"""observe(events, effects): called at every epoch."""


@dataclass(frozen=True, slots=True)
class Simulation:
    """What happened: when every iteration was finished, and the state of things at every epoch."""

    workload: Workload
    finish_s: FloatArray
    """jobs × iterations + 1; NaN: never."""
    timeline: Timeline
    epochs: int


def simulate(
    workload: Workload,
    policy: str,
    predictor: Callable[[Cluster], Predictor],
    *,
    cores: int,
    epoch_s: float,
    switch_s: float = 0.0,
    until_s: float = math.inf,
    tuning: Tuning = DEFAULTS,
    observe: Observe | None = None,
) -> Simulation:
    """Run a workload to its end, or until `until_s`.

    `predictor(cluster)` makes the engine's predictor; only oracles look at the cluster. `observe` gets the events of
    every epoch and the effects that followed, and can record the run.
    """
    if not epoch_s > 0.0:
        raise SlaqError(f"the epoch is {epoch_s!r} s; give more than 0")
    cluster = Cluster(workload, switch_s)
    watch = WatchedPredictor(predictor(cluster))
    builder = TimelineBuilder(workload)
    state = begun(policy, cores, epoch_s, tuning)
    active, arrived, over, tick, pending = np.empty(0, dtype=np.int64), 0, 0, 0, list[Event]()
    while over < len(workload) and tick * epoch_s < until_s:
        if not len(active) and not pending:
            tick = max(tick, math.ceil(workload.arrival_s[arrived] / epoch_s))
        now_s = tick * epoch_s
        joining = np.arange(arrived, np.searchsorted(workload.arrival_s, now_s, side="right"))
        arrived, active = arrived + len(joining), np.concatenate([active, joining])
        events = [*pending, *(JobJoined(now_s, workload.declared[i]) for i in joining.tolist()), EpochEnded(now_s)]
        state, effects = run(state, events, lambda _: watch)
        decided = _decided(effects, len(active))
        given = np.fromiter(decided.values(), dtype=np.float64)
        if observe:
            observe(events, effects)
        builder.note(now_s, active, given, cluster.done, watch.outlook)
        finished = cluster.advance(active, given, now_s, epoch_s)
        builder.note_end(cluster.done)
        tick += 1
        gone = cluster.over(active)
        ran, leaving, active = active, active[gone], active[~gone]
        pending = [
            *cluster.beats(ran, finished, tick * epoch_s),
            *cluster.departures(leaving, tick * epoch_s),
        ]
        over += len(leaving)
    if observe:
        observe(pending, ())
    return Simulation(workload, cluster.finish_s, builder.timeline(), state.epoch)


def begun(policy: str, cores: int, epoch_s: float, tuning: Tuning = DEFAULTS, predictor: str = LEARNED) -> State:
    """The state that a simulation begins with."""
    return State(cores, policy, predictor, epoch_s, max(LEASE_S, 10.0 * epoch_s), tuning=tuning)


def _decided(effects: Sequence[Effect], active: int) -> dict[str, float]:
    """The cores of every active job, in order of arrival, as the engine keeps them."""
    for effect in effects:
        if isinstance(effect, PolicyFailed):
            raise SlaqError(f"policy {effect.policy!r} failed in epoch {effect.epoch}: {effect.error}")
    (allocated,) = (effect for effect in effects if isinstance(effect, Allocated))
    if len(allocated.decision.cores) != active:
        raise SlaqError(f"the engine knows {len(allocated.decision.cores)} jobs, the simulator {active}")
    return allocated.decision.cores
