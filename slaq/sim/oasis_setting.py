"""The evaluation of the OASiS paper: what is drawn, and the switches for what the paper leaves open."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from msgspec import Struct

from slaq.model import FloatArray, IntArray
from slaq.oasis import Bounds, Market, Pool, Request, Side, Utility, bounds_of, value_density
from slaq.oasis.market import LEAST_VALUE

WORKER_SERVERS = ((8, 32, 488), (16, 64, 732), (1, 16, 122), (2, 32, 244), (4, 64, 488))
"""GPUs, vCPUs and GB of p2.8x, p2.16x, g3.4x, g3.8x, g3.16xlarge; p2.xlarge is left out: few workers fit."""
SIDE_SERVER = (36, 60)
"""vCPUs and GB of a c4.8xlarge. The paper names the two kinds the other way round, without GPUs for workers."""
SLOT_S = 3600.0


class OasisSetting(Struct, frozen=True, kw_only=True):
    """One simulated evaluation; every open point of the paper is a field."""

    jobs: int = 100
    slots: int = 300
    worker_servers: int = 50
    side_servers: int = 50
    reading: Literal["chunk", "mini-batch"] = "chunk"
    """What τ is the time of: a chunk (with which the published totals are possible) or, literally, a mini-batch."""
    arrivals: Literal["diurnal", "uniform"] = "diurnal"
    epochs: tuple[int, int] = (50, 200)
    worth: tuple[float, float] = (1.0, 100.0)
    least_value: float = LEAST_VALUE
    """Clamp of a job's value at the horizon in L, as a part of its highest."""
    estimate: float = 1.0
    """U/L as it is estimated, relative to its true value; L is held."""
    low_factor: float = 1.0
    """Multiplies L. By the paper's formula prices are next to nothing up to two thirds of the load."""
    low_quantile: float = 0.0
    """Sets L to this quantile of the jobs' value per unit of what they take; 0: the paper's formula."""
    insensitive: float = 0.1
    """Part of the jobs that do not care for time."""
    sensitive: float = 0.55
    """Part of the jobs that are time-sensitive; the others are time-critical."""
    rrh_threshold: float = 0.0
    fairness_loss: float = 0.1
    """Dorm's θ1."""
    adjusted: float = 0.1
    """Dorm's θ2: part of the running jobs that one decision may change."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """One workload on one cluster; demands and capacities in units of the pool's average server."""

    setting: OasisSetting
    workers: FloatArray
    servers: FloatArray
    requests: tuple[Request, ...]
    """In order of arrival."""
    targets: FloatArray
    urgency: FloatArray
    fixed: tuple[int, ...]
    """The number of workers with which FIFO and RRH run each job."""

    def market(self, priced: bool = True) -> Market:
        """An empty cluster with the exact bounds of this workload, or without prices."""
        setting = self.setting
        pools = []
        for capacity, side in ((self.workers, False), (self.servers, True)):
            bounds = bounds_of(self.requests, capacity, setting.slots, side, setting.least_value) if priced else None
            if bounds is not None:
                low = bounds.low * setting.low_factor
                if setting.low_quantile:
                    low = max(value_density(self.requests, setting.low_quantile, side), bounds.low)
                bounds = Bounds(low, np.maximum(bounds.high * setting.estimate, low))
            pools.append(Pool(capacity, setting.slots, bounds))
        return Market(*pools)


def draw(setting: OasisSetting, seed: int) -> Drawn:
    """Independent uniform draws from the paper's ranges."""
    rng = np.random.default_rng(seed)
    kinds = np.array(WORKER_SERVERS, dtype=float)[rng.integers(0, len(WORKER_SERVERS), setting.worker_servers)]
    workers = np.column_stack((kinds, rng.uniform(20, 50, setting.worker_servers)))
    side = np.tile(np.array(SIDE_SERVER, dtype=float), (setting.side_servers, 1))
    servers = np.column_stack((side, rng.uniform(20, 50, setting.side_servers)))
    unit, side_unit = workers.mean(axis=0), servers.mean(axis=0)
    starts: list[int] = np.sort(_arrivals(setting, rng)).tolist()
    drawn = [_job(setting, rng, start, unit, side_unit) for start in starts]
    return Drawn(
        setting,
        workers / unit,
        servers / side_unit,
        tuple(request for request, _ in drawn),
        np.array([utility.target for _, utility in drawn]),
        np.array([utility.urgency for _, utility in drawn]),
        tuple(min(int(rng.integers(1, 31)), request.width) for request, _ in drawn),
    )


def _arrivals(setting: OasisSetting, rng: np.random.Generator) -> IntArray:
    """The slots of arrival; the diurnal rate has a period of 24 slots and varies by a factor of three."""
    slot = np.arange(setting.slots)
    rate = 1.0 + 0.5 * np.sin(2.0 * np.pi * slot / 24.0) if setting.arrivals == "diurnal" else np.ones(len(slot))
    found: IntArray = rng.choice(slot, setting.jobs, p=rate / rate.sum())
    return found


def _job(
    setting: OasisSetting, rng: np.random.Generator, start: int, unit: FloatArray, side_unit: FloatArray
) -> tuple[Request, Utility]:
    epochs, chunks = rng.integers(setting.epochs[0], setting.epochs[1] + 1), int(rng.integers(5, 101))
    batches = rng.integers(10, 101) if setting.reading == "mini-batch" else 1
    bandwidth, side_bandwidth = rng.uniform(0.1, 5.0), rng.uniform(5.0, 20.0)
    exchange = 2.0 * rng.uniform(30, 575) * 8e-3 / bandwidth / SLOT_S
    length = rng.uniform(0.001, 0.1) + exchange
    work = max(int(np.ceil(epochs * chunks * batches * length)), 1)
    demand = np.array([rng.integers(0, 5), rng.integers(1, 11), rng.uniform(2, 32), bandwidth]) / unit
    beside = np.array([rng.integers(1, 11), rng.uniform(2, 32), side_bandwidth]) / side_unit
    kind = rng.random()
    sensitive = kind < setting.insensitive + setting.sensitive
    urgency = 0.0 if kind < setting.insensitive else rng.uniform(0.01, 1.0) if sensitive else rng.uniform(4.0, 6.0)
    utility = Utility(rng.uniform(*setting.worth), urgency, rng.uniform(1.0, 15.0))
    value = utility.at(np.arange(setting.slots - start, dtype=float))
    return Request(work, chunks, demand, value, start, Side(beside, bandwidth / side_bandwidth)), utility
