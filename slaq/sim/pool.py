"""A job as slots are shared out: what it waits for, what it holds, what it was granted."""

import math
from dataclasses import dataclass, field

from slaq.sim.script import Script


@dataclass(slots=True)
class Pool:
    """The running state of one script. The machine changes it; rules and schedulers only read it."""

    script: Script
    place: int
    """By arrival."""
    step: int = 0
    """Steps that are over."""
    waiting: list[float] = field(default_factory=list)
    """Lengths of the tasks that wait for a slot, the next one last."""
    running: int = 0
    lent: int = 0
    """Of these, tasks that it is not charged for."""
    submitted_s: float = -math.inf
    """When the stage under way was submitted."""
    active_s: float = -math.inf
    """When one of its tasks last started or ended."""
    held_core_s: float = 0.0
    paused_s: float = 0.0
    partitions: int = 0
    granted: float | None = None
    """None: nothing was decided yet."""
    standby: int | None = None
    """Its place among those that one more core would bring something."""
    rank: int = 0
    """Its place in the order of the latest decision: the most cores first, then by `standby`."""
    tokens: float = 0.0
    """Core-seconds granted and not yet held; negative: held in advance."""
    counted_s: float = 0.0
    known: int = 0
    """Losses so far."""
    ended: bool = False

    @property
    def name(self) -> str:
        """Of its job."""
        return self.script.name

    @property
    def active(self) -> bool:
        """Whether it has a task."""
        return bool(self.waiting) or self.running > 0

    def count(self, now_s: float, least: float, most: float) -> None:
        """Bring what it holds, and the tokens between their bounds, up to now."""
        elapsed_s = now_s - self.counted_s
        self.counted_s = now_s
        self.held_core_s += elapsed_s * self.running
        if self.granted is not None:
            earned = elapsed_s * (self.granted - self.running + self.lent)
            self.tokens = min(max(self.tokens + earned, least), most)

    def paused(self, seconds: float) -> None:
        """A pause between two stages is over."""
        self.paused_s += seconds
