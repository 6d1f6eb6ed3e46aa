"""Jobs of FitGpp's evaluation: rigid, on one node each, drawn as far as the paper's workload is known.

Every distribution here is a recollection or a choice of ours: the paper's parameters could not be verified.
"""

from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

import numpy as np
from msgspec import Struct

from slaq.model import BoolArray, FloatArray

NODE = np.array([32.0, 256.0, 8.0])
"""CPU, GB, GPU of a node."""
SHORTEST_S = 1.0


class FitGppSetting(Struct, frozen=True, kw_only=True):
    """What is simulated; the switches are the open points of the paper, the default first."""

    nodes: int = 84
    jobs: int = 8192
    """In a set; 65536 in the paper, as far as is known; fewer here, for time."""
    te_share: float = 0.3
    load: float = 2.0
    """(running + queued demand) / capacity, of the scarcest resource, at which FIFO's arrivals are kept."""
    te_mean_s: float = 300.0
    be_mean_s: float = 1800.0
    grace_mean_s: float = 180.0
    restart_s: float = 0.0
    """What a preempted job has to do again when it resumes, besides lost work."""
    s: float = 4.0
    """Weight of the grace period against the size."""
    P: float = 1.0
    """Preemptions of a job at most; `inf`: no limit."""
    demand: Literal["gpu", "small-te", "normal"] = "gpu"
    """gpu · small-te (TE jobs take at most 2 GPU) · normal (independent truncated normals)."""
    times: Literal["normal", "lognormal"] = "normal"
    """normal (truncated, sd = mean) · lognormal (same mean)."""
    fallback: Literal["wait", "random", "smallest"] = "wait"
    """wait · random · smallest: what happens without a candidate."""
    queue: Literal["te-first", "one", "tail"] = "te-first"
    """te-first · one (preemption at a TE arrival only) · tail (preempted jobs at the tail of theirs)."""
    blocking: Literal["strict", "skip"] = "strict"
    """strict · skip: whether a BE job that does not fit holds up those behind it."""
    finish: Literal["freeze", "allow"] = "freeze"
    """freeze · allow: whether a job may finish in its grace period, and then counts as not preempted."""
    grace_counts: Literal["waiting", "execution"] = "waiting"
    """waiting · execution, in the slowdown."""
    normalise: Literal["running", "candidates"] = "running"
    """running · candidates."""
    reservation: Literal["node", "none"] = "node"
    """node · none: whether room is kept for the preemptor."""
    lost: Literal["none", "checkpoint", "all"] = "none"
    """none · checkpoint (since the latest of one every 10 min) · all."""

    def __post_init__(self) -> None:
        for name in ("nodes", "jobs", "load", "te_mean_s", "be_mean_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; give a number above 0")
        for name in ("grace_mean_s", "restart_s", "s", "P"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}; give 0 or more")
        if not 0.0 <= self.te_share <= 1.0:
            raise ValueError(f"te_share is {self.te_share!r}; give a share from 0 to 1")
        if self.reservation == "none" and (self.lost != "none" or self.restart_s > 0.0):
            # Victims take back the room that others have made for a preemptor, and start anew each time: no run ends.
            raise ValueError("reservation=none with work that is done again may never end; give lost=none, restart_s=0")


SWITCHES: dict[str, tuple[str, ...]] = {
    name: get_args(hint) for name, hint in get_type_hints(FitGppSetting).items() if get_args(hint)
}
"""Every open point with its values, the default first."""


@dataclass(frozen=True)
class Jobs:
    """A set of jobs in order of submission."""

    te: BoolArray
    exec_s: FloatArray
    grace_s: FloatArray
    demand: FloatArray


def draw(setting: FitGppSetting, seed: int) -> Jobs:
    """The jobs of one set."""
    rng, count = np.random.default_rng(seed), setting.jobs
    te = rng.random(count) < setting.te_share
    te_s = _times(rng, setting.te_mean_s, 1800.0, count, setting.times)
    be_s = _times(rng, setting.be_mean_s, 86400.0, count, setting.times)
    grace_s = np.where(te, 0.0, _times(rng, setting.grace_mean_s, 1200.0, count, setting.times, 0.0))
    return Jobs(te, np.where(te, te_s, be_s), grace_s, _demand(rng, te, setting.demand))


def _times(
    rng: np.random.Generator, mean: float, most: float, count: int, kind: str, least: float = SHORTEST_S
) -> FloatArray:
    if kind == "lognormal":  # sigma 1: a tail of several means
        return np.clip(rng.lognormal(np.log(mean) - 0.5, 1.0, count), least, most)
    return _truncated(rng, mean, mean, least, most, count) if mean > 0.0 else np.zeros(count)


def _truncated(rng: np.random.Generator, mean: float, sd: float, least: float, most: float, count: int) -> FloatArray:
    """Normal numbers, drawn again until they are inside."""
    values = rng.normal(mean, sd, count)
    while (outside := (values < least) | (values > most)).any():
        values[outside] = rng.normal(mean, sd, int(outside.sum()))
    return values


def _demand(rng: np.random.Generator, te: BoolArray, kind: str) -> FloatArray:
    count = len(te)
    if kind == "normal":
        columns = (
            np.ceil(_truncated(rng, 4.0, 4.0, 1.0, 32.0, count)),
            np.ceil(_truncated(rng, 24.0, 24.0, 1.0, 256.0, count)),
            np.round(_truncated(rng, 1.5, 1.5, 0.0, 8.0, count)),
        )
        return np.stack(columns, axis=1)
    gpu = rng.choice([0.0, 1.0, 2.0, 4.0, 8.0], size=count, p=[0.15, 0.45, 0.2, 0.1, 0.1])
    if kind == "small-te":
        gpu = np.where(te, np.minimum(gpu, 2.0), gpu)
    cpu = np.where(gpu > 0.0, gpu * rng.integers(2, 5, count), rng.integers(1, 9, count))
    memory = np.maximum(gpu, 1.0) * rng.integers(8, 33, count)
    return np.stack((cpu, memory, gpu), axis=1)
