"""What a policy answers: cores for every job, and why."""

from collections.abc import Mapping

from msgspec import Struct


class Reason(Struct, frozen=True):
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

    def __str__(self) -> str:
        return RULES[self.rule].format(
            cores=_amount(self.cores), next_gain=self.next_gain, cutoff=self.cutoff, waited=self.waited
        )


RULES: Mapping[str, str] = {
    "gain": "{cores}: one more would buy {next_gain:.3g}, the last core handed out bought {cutoff:.3g}",
    "worst": "{cores}: raised while among the worst; its loss: {next_gain:.3g}, raising ended at {cutoff:.3g}",
    "cap": "{cores}: all it can use",
    "floor": "{cores}: the floor; one more would buy {next_gain:.3g}, the last core handed out bought {cutoff:.3g}",
    "waiting": "{cores}: more jobs than cores; this much is sure, and for {waited} epochs others have gained more",
    "fair": "{cores}: its fair share",
    "arrival": "{cores}: shared out in order of arrival",
    "attained": "{cores}: shared out to whoever has held the fewest core-seconds",
    "remaining": "{cores}: shared out in order of the work left to the expected end",
    "reserved": "{cores}: its reservation",
    "preempted": "{cores}: preempted",
    "none": "{cores}: there are no cores to share out",
}


def _amount(cores: float) -> str:
    return "1 core" if cores == 1.0 else f"{round(cores, 2):.12g} cores"


class Decision(Struct, frozen=True):
    """Cores and a reason for every job of the snapshot, by job id."""

    policy: str
    cores: dict[str, float]
    reasons: dict[str, Reason]
