"""What a job has reported: one loss per iteration, and what the iteration cost."""

import math
from struct import pack, unpack

from msgspec import Struct
from msgspec.structs import replace

from slaq.records import LOSS_LIMIT, Report

LOSSES_KEPT = 256
"""Older losses are forgotten; the forecaster looks at the recent past only, and memory stays bounded."""

COSTS_KEPT = 8
"""Iteration costs kept for the runtime model, which takes medians over them."""

MOVEMENT_DECAY = 0.7
"""Weight of the past in `movement`: about the last three iterations count."""

UNKNOWN = math.nan

COST_LIMIT = 1e15
"""A cost beyond this (seconds or core-seconds) is taken for a mistake and counts as unknown."""

_NUMBER = 8  # bytes
_COST = 2 * _NUMBER
_NO_COSTS = pack("=2d", UNKNOWN, UNKNOWN) * COSTS_KEPT


class History(Struct, frozen=True, gc=False):
    """The losses of a job in the order of its iterations, and running facts about all of them.

    The numbers are kept packed: a thousand histories then become one numpy array by joining bytes,
    and records of them compare, copy and travel exactly, NaN included.
    """

    packed_losses: bytes = b""
    """The latest losses, oldest first, as 64-bit floats."""
    packed_iterations: bytes = b""
    """Their iteration numbers, as 64-bit integers."""
    packed_costs: bytes = _NO_COSTS
    """The latest iterations' (work_core_s, serial_s), oldest first, NaN where unknown."""
    even: bool = True
    """No iteration is missing between two reported ones."""
    latest_iteration: int = -1
    latest_loss: float = UNKNOWN
    first_loss: float = UNKNOWN
    largest_delta: float = 0.0
    """The largest loss reduction seen between two reports: the unit of quality (SLAQ §4.1)."""
    movement: float = 0.0
    """The recent loss reduction of one report, exponentially weighted; rises count as 0."""
    diverged: bool = False
    """The latest report was NaN, infinite or beyond LOSS_LIMIT."""
    ignored: int = 0
    """Reports that could not be used: diverged ones, and iterations older than the latest."""

    def __len__(self) -> int:
        return len(self.packed_losses) // _NUMBER

    @property
    def losses(self) -> tuple[float, ...]:
        """The latest losses, oldest first."""
        return unpack(f"={len(self)}d", self.packed_losses)

    @property
    def iterations(self) -> tuple[int, ...]:
        """The iteration number of each of `losses`."""
        return unpack(f"={len(self)}q", self.packed_iterations)

    @property
    def costs(self) -> tuple[float, ...]:
        """The latest iterations' costs, flattened."""
        return unpack(f"={2 * COSTS_KEPT}d", self.packed_costs)

    def add(self, report: Report) -> "History":
        """The history with one more report.

        An iteration reported again replaces its earlier value; one older than the latest is ignored.
        A loss that is not finite is left out and marks the job as diverged until the next finite one.
        """
        loss = report.loss
        if loss is None or not -LOSS_LIMIT < loss < LOSS_LIMIT:
            return replace(self, diverged=True, ignored=self.ignored + 1)
        latest = self.latest_iteration
        number = latest + 1 if report.iteration is None else report.iteration
        if self.packed_losses and number <= latest:
            return self._corrected(loss) if number == latest else replace(self, ignored=self.ignored + 1)
        passed = number - latest if self.packed_losses else 1
        delta = self.latest_loss - loss if self.packed_losses else 0.0
        kept = -_NUMBER * (LOSSES_KEPT - 1)
        return History(
            packed_losses=self.packed_losses[kept:] + pack("=d", loss),
            packed_iterations=self.packed_iterations[kept:] + pack("=q", number),
            packed_costs=self.packed_costs[_COST:] + _packed_cost(report, passed),
            even=self.even and passed == 1,
            latest_iteration=number,
            latest_loss=loss,
            first_loss=self.first_loss if self.packed_losses else loss,
            largest_delta=max(self.largest_delta, delta),
            movement=self.movement * MOVEMENT_DECAY + max(delta, 0.0) * (1 - MOVEMENT_DECAY),
            diverged=False,
            ignored=self.ignored,
        )

    def _corrected(self, loss: float) -> "History":
        losses = self.losses
        return replace(
            self,
            packed_losses=self.packed_losses[:-_NUMBER] + pack("=d", loss),
            latest_loss=loss,
            first_loss=loss if len(losses) == 1 else self.first_loss,
            largest_delta=max(self.largest_delta, losses[-2] - loss) if len(losses) > 1 else 0.0,
            diverged=False,
        )


EMPTY_HISTORY = History()


def _packed_cost(report: Report, iterations: int) -> bytes:
    """The report's cost, spread evenly where reports of iterations are missing."""
    return pack("=2d", _known(report.work_core_s) / iterations, _known(report.serial_s) / iterations)


def _known(cost: float | None) -> float:
    return cost if cost is not None and 0.0 <= cost <= COST_LIMIT else UNKNOWN
