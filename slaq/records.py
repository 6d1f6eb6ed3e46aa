"""The records that travel through every layer unchanged: what an iteration reports, and the states of a job."""

from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct
from msgspec.structs import replace

LARGEST_COUNT = 2**53
"""Integers up to here are exact in every JSON reader."""

LOSS_LIMIT = 1e300
"""A loss beyond this counts as diverged, like NaN and infinity: differences of such numbers overflow."""

WEIGHTS = (1e-6, 1e6)
"""The smallest and the largest weight: wide enough for any ranking, narrow enough for exact arithmetic."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")
"""Hosts that only this machine can reach."""

Living = Literal["queued", "running", "idle", "held", "over-quota", "preempted"]
Ending = Literal["finished", "stopped", "failed", "cancelled", "lost"]
JobState = Literal[Living, Ending]
"""`queued`: waiting for its first cores, or for more. `idle`: no task to run. `over-quota`: the user's other jobs hold
all the cores the user may have. `stopped`: ended early, with the model it had by then. `lost`: its driver was silent
for longer than the lease."""

LIVING: tuple[str, ...] = get_args(Living)
ENDINGS: tuple[str, ...] = get_args(Ending)

Outcome = Literal["finished", "stopped", "failed", "cancelled"]
"""How a driver says that a job ended."""

MOST_PARAMS = 24
"""Parameters of an estimator that are told; with their lengths below, a beat about many jobs stays small."""
Word = Annotated[str, Meta(max_length=40)]
Param = bool | float | Word
Size = Annotated[float, Meta(ge=0, le=1e18)]


class Traits(Struct, frozen=True, omit_defaults=True):
    """What can be told of a fit before it has run: how it was set up, and the size of its data as far as it is known.

    Fits of one estimator with the same traits are expected to cost the same.
    """

    params: Annotated[dict[Word, Param], Meta(max_length=MOST_PARAMS)] = {}
    """What shapes its cost: no seeds and no names of columns."""
    partitions: Size | None = None
    bytes: Size | None = None
    """Bytes that its tasks read in a pass over the data."""


NO_TRAITS = Traits()


Preset = Literal["time-critical", "time-sensitive", "insensitive"]
"""How fast what a job's end is worth falls after its deadline: at once, slowly, not at all."""
Kind = Literal["te", "best-effort"]
"""`te`: a trial that somebody watches; it gets in at once, before the best-effort jobs."""
LONGEST_S = 1e9
Seconds = Annotated[float, Meta(ge=0, le=LONGEST_S)]
Sigmoid = tuple[Annotated[float, Meta(gt=0, le=1e9)], Annotated[float, Meta(ge=0, le=1e9)], Seconds]
"""Worth, urgency per second, and target in seconds after the beginning: worth / (1 + exp(urgency (t - target)))."""


class Wish(Struct, frozen=True, omit_defaults=True, gc=False):
    """By when a user wants a job done, what its end is worth to them by then, and whether they watch it."""

    deadline_s: Seconds | None = None
    """Seconds after its beginning; None: nothing was said."""
    utility: Preset | Sigmoid | None = None
    """None: time-critical if there is a deadline."""
    kind: Kind | None = None
    """None: nothing was said; that is best-effort."""

    @property
    def timed(self) -> bool:
        """Whether it says anything of the job's end."""
        return self.deadline_s is not None or self.utility is not None

    def over(self, other: "Wish") -> "Wish":
        """This wish; where it says nothing, the other."""
        timed = self if self.timed else other
        return Wish(timed.deadline_s, timed.utility, self.kind or other.kind)

    def after(self, elapsed_s: float) -> "Wish":
        """The same wish of what begins so much later: less time is left."""
        wish = self
        if wish.deadline_s is not None:
            wish = replace(wish, deadline_s=max(wish.deadline_s - elapsed_s, 0.0))
        if isinstance(wish.utility, tuple):
            worth, urgency, target_s = wish.utility
            wish = replace(wish, utility=(worth, urgency, max(target_s - elapsed_s, 0.0)))
        return wish


NO_WISH = Wish()


class Report(Struct, frozen=True, array_like=True, gc=False):
    """One finished iteration: its loss, lower being better, and what it cost as far as is known.

    The same record is buffered by the agent, sent with a beat, and kept in the engine's events.
    """

    loss: float | None
    """None: NaN or infinite, which JSON cannot carry; the job has diverged until its next finite loss."""
    iteration: Annotated[int, Meta(ge=-LARGEST_COUNT, le=LARGEST_COUNT)] | None = None
    """None: the one after the previous report's."""
    work_core_s: float | None = None
    """Core-seconds that the tasks of this iteration held."""
    serial_s: float | None = None
    """Seconds of this iteration in which the job had no stage to run: more cores do not shorten them."""


class Standing(Struct, frozen=True, array_like=True, gc=False):
    """How far a job has come, by the one definition that policies, early answers and people's views share."""

    reached: float
    """Share of its whole expected loss reduction, from the first loss to the expected end, from 0 to 1."""
    to_90: float
    """Iterations until it has reached 90 %; 0 if it has."""
    to_95: float
    to_end: float
    """Iterations until its expected end."""
