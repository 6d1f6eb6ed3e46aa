"""When to decide: every epoch on the monotonic clock, on time; epochs that the process slept through are skipped."""

import math


class Pace:
    """The times of the decisions, a whole number of epochs apart."""

    def __init__(self, epoch_s: float, first_s: float) -> None:
        self.epoch_s = epoch_s
        self.due_s = first_s

    def decided(self, now_s: float) -> tuple[float, int]:
        """The decision that was due is made: when the next one is, and how many are skipped until then."""
        missed = max(math.floor((now_s - self.due_s) / self.epoch_s), 0)
        self.due_s += (1 + missed) * self.epoch_s
        return self.due_s, missed

    def change(self, epoch_s: float, now_s: float) -> None:
        """Another length of the epoch from now on."""
        self.epoch_s = epoch_s
        self.due_s = min(self.due_s, now_s + epoch_s)
