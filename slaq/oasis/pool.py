"""A pool of servers over time: what is promised of every slot, and the price of what is left (OASiS §IV-A)."""

from dataclasses import dataclass

import numpy as np

from slaq.model import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class Bounds:
    """Prices run from `low`, at which any job gets in, to `high` by resource, at which none does."""

    low: float
    high: FloatArray

    @property
    def steepness(self) -> float:
        """max ln(U/L): the paper's α, which bounds how far the result is from the best one."""
        return float(np.max(np.log(self.high / self.low), initial=1.0))


class Pool:
    """Capacity by server and resource; use by slot, server and resource. Prices follow what is used."""

    def __init__(self, capacity: FloatArray, slots: int, bounds: Bounds | None) -> None:
        """Without bounds everything is free of charge."""
        self.capacity = capacity
        self.bounds = bounds
        self.used: FloatArray = np.zeros((slots, *capacity.shape))
        if bounds is not None:
            self._log_low = float(np.log(bounds.low))
            self._log_range = np.maximum(np.log(bounds.high) - self._log_low, 0.0)
        self.prices: FloatArray = np.zeros_like(self.used)
        self._reprice(np.arange(slots)[:, None], np.arange(len(capacity))[None, :])

    @property
    def slots(self) -> int:
        """The horizon."""
        return len(self.used)

    def unit_costs(self, first: int, demand: FloatArray) -> FloatArray:
        """What a unit of this demand costs, by slot from `first` on and by server."""
        costs: FloatArray = self.prices[first:] @ demand
        return costs

    def room(self, first: int, demand: FloatArray) -> IntArray:
        """How many units of this demand fit, by slot from `first` on and by server."""
        needed = demand > 0.0
        free = self.capacity[:, needed] - self.used[first:, :, needed]
        # Rounding in sums of demands must not cost a whole unit.
        fitting: IntArray = np.maximum(np.floor((free / demand[needed]).min(axis=2) + 1e-9), 0.0).astype(np.int64)
        return fitting

    def add(self, rows: IntArray, demand: FloatArray) -> None:
        """Promise units: rows of slot, server, count. A negative count returns what was not used."""
        if not len(rows):
            return
        slot, server, count = rows.T
        np.add.at(self.used, (slot, server), count[:, None] * demand)
        self._reprice(slot, server)

    def _reprice(self, slot: IntArray, server: IntArray) -> None:
        if self.bounds is None:
            return
        # In logarithms: low prices are far below what a product of powers would keep.
        filled = self.used[slot, server] / np.maximum(self.capacity[server], 1e-300)
        self.prices[slot, server] = np.exp(self._log_low + np.clip(filled, 0.0, 1.0) * self._log_range)
