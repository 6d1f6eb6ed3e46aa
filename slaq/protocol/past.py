"""Questions about the past that a decision log answers, between the scheduler and the program that reads the log.

The answers are also what the page gets; jobs go by their ids, and the scheduler adds whose they are.
"""

from msgspec import Struct


class PastQuestion(Struct, frozen=True, omit_defaults=True):
    """What is asked: the decisions of a time, with `policy` what another one would have decided."""

    folder: str
    from_at: float
    until_at: float
    jobs: bool = False
    """Also what each job did in this time."""
    policy: str = ""


class Held(Struct, frozen=True, array_like=True):
    """The cores that one job was given, at one moment."""

    id: str
    cores: float


class PastSample(Struct, frozen=True, array_like=True):
    """A decision: when, all the cores it gave, and the jobs with most of them."""

    at: float
    granted: float
    cores: list[Held]


class PastJob(Struct, frozen=True):
    """What one job did in the time asked for."""

    id: str
    user: str
    estimator: str
    mean_cores: float
    least_cores: float
    most_cores: float
    iterations: int
    """Losses reported."""
    first_loss: float | None
    last_loss: float | None
    ended: str
    """How it ended, if it did."""
    reason: str
    """The sentence of the last decision about it."""


class Past(Struct, frozen=True):
    """The decisions of a time."""

    begins_at: float
    """The log's first decision."""
    ends_at: float
    """Its last."""
    policies: list[str]
    """Those that a log can be replayed under."""
    samples: list[PastSample]
    jobs: list[PastJob] = []


class Outcome(Struct, frozen=True):
    """How the counted jobs fared; means over those that reached the mark in every row, in seconds from their begin."""

    what: str
    """`recorded`, `replayed` (under the policy that decided) or `what-if`."""
    policy: str
    to_90_s: float | None
    to_95_s: float | None
    to_end_s: float | None
    unfinished: int
    """Counted jobs that had not ended by the end of the time."""
    quality: float | None
    """Mean over the time of `WhatIf.quality`."""


class WhatIf(Struct, frozen=True):
    """The same jobs under another policy."""

    from_at: float
    until_at: float
    counted: int
    """Training jobs that began and ended in this time; all others only compete for cores."""
    left_out: int
    """Training jobs that did not."""
    outcomes: list[Outcome]
    times: list[float]
    quality: list[list[float | None]]
    """For each outcome: the mean share of its loss reduction that a counted job had reached, from its begin
    until it had ended in all of them; None while no job counts."""
    replayed: list[PastSample]
    what_if: list[PastSample]
