"""Early ends: which jobs are to end with the model they have, and why.

A user asks for it, or the job is good enough (early answer "stop"), or its budget is used up. A fit of MLlib is ended
by the probe, after the iteration under way; a loop of one's own learns it from `slaq.should_stop()`.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from slaq.config import Config
from slaq.driver.notices import once
from slaq.driver.tracked import CUSTOM, TrackedJob
from slaq.spark.records import ASKED, ASKED_BEFORE, UNKNOWN

if TYPE_CHECKING:
    from slaq.spark.bridge import Bridge

BY_USER = "its user asked for it"


class Stopping:
    """Who was asked to end. `ask`, `asked` may be called from any thread, the rest from the driver loop's."""

    def __init__(self, config: Config) -> None:
        self._budget, self._early = config.budget, config.early_answer
        self._why: dict[str, str] = {}
        """Why each job is to end."""
        self._done: set[str] = set()
        """Those of which the driver's JVM knows it."""

    def ask(self, job_id: str, why: str = BY_USER) -> None:
        """Have a job end; the first reason counts."""
        self._why.setdefault(job_id, why)

    def asked(self, job_id: str) -> bool:
        """Whether a job is to end."""
        return job_id in self._why

    def consider(self, job: TrackedJob, now: float) -> None:
        """Ask for the end of a job that is good enough or has used up its budget."""
        if job.id in self._why or job.outcome is not None or (job.estimator == CUSTOM and not job.trains):
            return
        why = self._spent(job, now) or (job.good_enough if self._early == "stop" else None)
        if why is None:
            return
        if job.begin.unstoppable is None:
            self.ask(job.id, why)
        else:
            once(
                f"unstoppable {job.id}",
                "%s (%s) should stop (%s) and cannot: %s; it goes on",
                job.id,
                job.name,
                why,
                job.begin.unstoppable,
            )

    def carry_out(self, bridge: "Bridge", jobs: Mapping[str, TrackedJob]) -> None:
        """Tell the driver's JVM of every fit that is to end; what fails is told again with the next turn."""
        for job_id, why in list(self._why.items()):
            if job_id in self._done or job_id not in jobs:
                continue
            job = jobs[job_id]
            # Of a named job, the fits that run inside it now.
            fits = [job] if job.estimator != CUSTOM else [fit for fit in jobs.values() if fit.begin.outer == job_id]
            for fit in fits:
                answer = bridge.stop(fit.id, why)
                if answer not in (ASKED, ASKED_BEFORE, UNKNOWN):
                    once(f"unstoppable {fit.id}", "%s (%s) cannot be stopped early: %s", fit.id, fit.name, answer)
            self._done.add(job_id)

    def forget(self, job_id: str) -> None:
        """The job is over."""
        self._why.pop(job_id, None)
        self._done.discard(job_id)

    def _spent(self, job: TrackedJob, now: float) -> str | None:
        budget = self._budget
        if budget.time_s != math.inf and now - job.began_at >= budget.time_s:
            return f"its budget of {budget.time_s:g} s is used up"
        if budget.core_time_s != math.inf and job.usage.held_s >= budget.core_time_s:
            return f"its budget of {budget.core_time_s:g} core-seconds is used up"
        return None
