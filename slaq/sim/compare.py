"""Several policies on the same workloads, seed by seed, on as many processes as wanted."""

import math
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass

from slaq.engine.log import Epoch
from slaq.model import DEFAULTS, Tuning
from slaq.predict import LEARNED
from slaq.sim.clock import Observe, Simulation, begun, simulate
from slaq.sim.contenders import Contender, contender
from slaq.sim.curves import Curve
from slaq.sim.metrics import Outcome, outcome, summary
from slaq.sim.predictors import make
from slaq.sim.recording import Recording
from slaq.sim.workload import Setting, Workload, draw

FAIR = "fair"
"""The baseline of all ratios: it always runs."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What to compare, and on what: drawn workloads, or one that was recorded."""

    policies: tuple[str, ...]
    setting: Setting
    curves: tuple[Curve, ...] = ()
    seeds: tuple[int, ...] = (0,)
    predictor: str = LEARNED
    until_s: float = math.inf
    replayed: Workload | None = None
    tuning: Tuning = DEFAULTS

    @property
    def contenders(self) -> list[Contender]:
        """The policies by name, `fair` among them."""
        names = dict.fromkeys((FAIR, *self.policies))
        return [contender(name, self.predictor) for name in names]


def compare(
    comparison: Comparison, processes: int = 1, progress: Callable[[int, int], None] | None = None
) -> list[dict[str, object]]:
    """One summary per policy, in the order asked for; the same whatever the number of processes."""
    tasks = [(one.name, seed) for seed in comparison.seeds for one in comparison.contenders]
    outcomes: dict[tuple[str, int], Outcome] = {}
    for task, result in _results(comparison, tasks, processes):
        outcomes[task] = result
        if progress:
            progress(len(outcomes), len(tasks))
    fair = [outcomes[FAIR, seed] for seed in comparison.seeds]
    return [summary(name, [outcomes[name, seed] for seed in comparison.seeds], fair) for name in comparison.policies]


def run_one(comparison: Comparison, name: str, seed: int, observe: Observe | None = None) -> Simulation:
    """One policy on the workload of one seed."""
    setting, one = comparison.setting, contender(name, comparison.predictor)
    return simulate(
        comparison.replayed or draw(setting, comparison.curves, seed),
        one.policy,
        lambda cluster: make(one.predictor, cluster, seed),
        cores=setting.cores,
        epoch_s=setting.epoch_s,
        switch_s=setting.switch_s,
        until_s=comparison.until_s,
        tuning=comparison.tuning,
        observe=observe,
    )


def record_one(comparison: Comparison, name: str, seed: int) -> Recording:
    """The recording of such a run."""
    setting, one, epochs = comparison.setting, contender(name, comparison.predictor), list[Epoch]()
    run_one(comparison, name, seed, lambda events, effects: epochs.append(Epoch(events, effects)))
    return Recording(begun(one.policy, setting.cores, setting.epoch_s, comparison.tuning, one.predictor), epochs)


def _results(
    comparison: Comparison, tasks: Sequence[tuple[str, int]], processes: int
) -> Iterator[tuple[tuple[str, int], Outcome]]:
    if processes <= 1:
        for task in tasks:
            yield task, _outcome(comparison, task)
        return
    with ProcessPoolExecutor(processes) as pool:
        futures = {pool.submit(_outcome, comparison, task): task for task in tasks}
        for future in as_completed(futures):
            yield futures[future], future.result()


def _outcome(comparison: Comparison, task: tuple[str, int]) -> Outcome:
    return outcome(run_one(comparison, *task))
