"""What a policy answers: cores for every job, and why."""

from collections.abc import Callable, Mapping

from msgspec import Struct


class Reason(Struct, frozen=True, gc=False):
    """Why a job got its cores; `str()` of it is the sentence for people."""

    rule: str
    """One of the keys of RULES."""
    cores: float
    next_gain: float = 0.0
    """What one more core would have bought the job, by the policy's own measure."""
    cutoff: float = 0.0
    """What the last core that was handed out bought: a job needs more than this to get another."""
    waited: int = 0
    """Epochs in a row with less than an even share, before this decision."""
    by: str = ""
    """The trial that it makes room for, or did and would again; empty: none."""

    def __str__(self) -> str:
        cores = self.cores
        amount = "1 core" if cores == 1.0 else f"{round(cores, 2):.12g} cores"
        return f"{amount}: {RULES[self.rule](self)}"


def _chosen(reason: Reason) -> str:
    return f" (chosen by its score of size and length of tasks, {reason.next_gain:.3g})" if reason.next_gain else ""


RULES: Mapping[str, Callable[[Reason], str]] = {
    "gain": lambda r: f"one more would buy {r.next_gain:.3g}, the last core handed out bought {r.cutoff:.3g}",
    "milestone": lambda r: (
        f"one more would collect {r.next_gain:.3g} of what milestones are worth, the last core handed out collected "
        f"{r.cutoff:.3g}"
    ),
    "worst": lambda r: f"raised while among the worst; its loss: {r.next_gain:.3g}, raising ended at {r.cutoff:.3g}",
    "cap": lambda _: "all it can use",
    "user": lambda _: "all of its user's share",
    "floor": lambda r: (
        f"the floor; one more would buy {r.next_gain:.3g}, the last core handed out bought {r.cutoff:.3g}"
    ),
    "waiting": lambda r: f"more jobs than cores; this much is sure, and for {r.waited} epochs others have gained more",
    "fair": lambda _: "its fair share",
    "arrival": lambda _: "shared out in order of arrival",
    "attained": lambda _: "shared out to whoever has held the fewest core-seconds",
    "remaining": lambda _: "shared out in order of the work left to the expected end",
    "reserved": lambda _: "its reservation",
    "promised": lambda r: f"by its plan; its end is worth {r.next_gain:.3g}, the cores until then cost {r.cutoff:.3g}",
    "refused": lambda r: (
        f"not admitted: its end would be worth {r.next_gain:.3g}, the cores until then cost {r.cutoff:.3g}; it waits, "
        "and asks again when prices change"
    ),
    "no-room": lambda _: "not admitted: there is no room for its work within the plans' horizon; it waits",
    "trial": lambda _: "a trial, which gets in before best-effort jobs",
    "preempted": lambda r: f"preempted by the trial {r.by}{_chosen(r)}; it resumes when that has ended",
    "made-room": lambda r: f"what the trial {r.by} leaves it{_chosen(r)}",
    "new-work": lambda _: "its floor; jobs that came before it have made room for a trial and resume first",
    "none": lambda _: "there are no cores to share out",
}
"""The sentence of every rule."""


class Decision(Struct, frozen=True):
    """Cores and a reason for every job of the snapshot, by job id."""

    policy: str
    cores: dict[str, float]
    reasons: dict[str, Reason]
