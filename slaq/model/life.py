"""The life of a job: its states, the moves between them, and the one function that makes a move.

A living job may have up to four independent causes to wait: its user holds it, it has no task, its user is over quota,
it was preempted. Its state is the first cause that applies, in the order of `WAITS`; without one it is `running` if the
latest decision gave it cores and `queued` otherwise. An ended job stays ended.
"""

from collections.abc import Mapping
from typing import Literal, get_args

from msgspec import Struct

from slaq.errors import SlaqError
from slaq.records import ENDINGS, Ending, JobState

Wait = Literal["held", "over-quota", "idle", "preempted"]
WAITS: tuple[Wait, ...] = get_args(Wait)
"""Causes to wait, the one that is shown first in front."""

Command = Literal["hold", "release", "rest", "work", "finish", "stop", "fail", "cancel", "lose"]
"""What a job's user (hold, release, cancel) or its driver makes of it (rest, work, finish, stop, fail, cancel; lose:
the application closes without ending it)."""

Move = Literal[Command, "exceed-quota", "meet-quota", "preempt", "resume", "grant", "starve"]
MOVES: tuple[Move, ...] = get_args(Move)
"""All that can happen to a job: besides commands, what its user's quota (exceed-quota, meet-quota), the policy
(preempt, resume, grant, starve) and the lease (lose) make of it."""

_CAUSES: Mapping[str, tuple[Wait, bool]] = {
    "hold": ("held", True),
    "release": ("held", False),
    "exceed-quota": ("over-quota", True),
    "meet-quota": ("over-quota", False),
    "rest": ("idle", True),
    "work": ("idle", False),
    "preempt": ("preempted", True),
    "resume": ("preempted", False),
}
"""Moves that begin or end a cause to wait."""

_ENDS: Mapping[str, Ending] = {
    "finish": "finished",
    "stop": "stopped",
    "fail": "failed",
    "cancel": "cancelled",
    "lose": "lost",
}

REASONS: Mapping[str, str] = {
    "queued": "0 cores: waits for the next decision",
    "running": "running",
    "held": "0 cores: held by its user",
    "over-quota": "0 cores: its user's other jobs hold all the cores the user may have",
    "idle": "0 cores: it has no task to run",
    "preempted": "0 cores: preempted by a trial",
    "finished": "finished",
    "stopped": "stopped early, with the model it had by then",
    "failed": "failed",
    "cancelled": "cancelled",
    "lost": "its driver was silent for longer than the lease",
}
"""Why a job is in its state, for people. Of a job that takes part in decisions the decision's reason says more."""


class Life(Struct, frozen=True, gc=False):
    """The state of a job, since when, and every cause it has to wait."""

    state: JobState = "queued"
    since_s: float = 0.0
    """When it came into this state."""
    granted: bool = False
    """Whether the latest decision gave it cores."""
    waits: tuple[Wait, ...] = ()
    """In the order of WAITS."""

    @property
    def over(self) -> bool:
        """Whether it has ended."""
        return self.state in ENDINGS

    @property
    def schedulable(self) -> bool:
        """Whether the next decision may give it cores. A preempted job takes part: the policy may resume it."""
        return not self.over and all(wait == "preempted" for wait in self.waits)


def moved(life: Life, move: Move, now_s: float) -> Life:
    """The life after a move; a move that changes nothing returns the same record, an ended job does not move."""
    if life.over:
        raise SlaqError(f"a job that is {life.state} cannot {move}")
    if move in _ENDS:
        return Life(_ENDS[move], now_s)
    granted, waits = life.granted, life.waits
    if move in _CAUSES:
        cause, begins = _CAUSES[move]
        if begins != (cause in waits):
            waits = tuple(wait for wait in WAITS if (begins if wait == cause else wait in waits))
            granted = granted and not waits
    else:
        granted = move == "grant"
    if granted == life.granted and waits == life.waits:
        return life
    state: JobState = waits[0] if waits else "running" if granted else "queued"
    return Life(state, life.since_s if state == life.state else now_s, granted, waits)
