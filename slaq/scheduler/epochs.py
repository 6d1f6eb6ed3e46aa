"""The epoch: shares of users, capacity, the decision, and what follows from it for every job."""

import logging
import math
from collections import Counter
from collections.abc import Callable
from itertools import islice

from slaq.config import Config
from slaq.engine import (
    Allocated,
    CapacityChanged,
    JobEnded,
    JobPreempted,
    JobSeen,
    PolicyFailed,
    Share,
    SharesChanged,
    UsersChanged,
)
from slaq.model import Decision, Job
from slaq.protocol import Beat, Capacity
from slaq.scheduler.capacity import CapacitySource
from slaq.scheduler.intake import Intake
from slaq.scheduler.live import App, LiveJob
from slaq.scheduler.problems import Problems
from slaq.scheduler.recorder import Recorder
from slaq.scheduler.shares import share_now, shares, user_dues
from slaq.scheduler.store import Archive
from slaq.scheduler.turns import take_turns

log = logging.getLogger(__name__)

LATE = 0.1
"""A decision is late from this share of an epoch on."""
STORE_S = 180.0
"""Living jobs are written to the archive this often."""
BEATS_PER_S = 8000.0
"""Beats are asked for at most at this rate: about what one core can answer."""
BEAT_WINDOW = 0.97
"""Beats come in the time from a decision to this share of an epoch, so that the next finds none waiting."""
BEAT_SPACING_S = 0.0002
LONGEST_DECAY = 0.9
SHORTEST_BEAT = 0.1
"""Beats do not come closer than this share of an epoch."""
FRESH_BEATS = 0.25
"""Up to this share of BEATS_PER_S applications beat twice an epoch: before the decision, so that it knows the latest
losses, and after it, for the grants."""
LEAD_S = 0.05
"""The beat before a decision comes this much earlier: the time that a beat takes on a network."""
SOONEST_S, SOONEST_COST = 0.1, 20.0
"""An early decision comes this long after the latest at least, and so many times as long as that one took."""
LONGEST_BEAT_S = 5.0
"""Commands of users travel with the answers, so beats do not become rarer than this."""


class Epochs:
    """Makes the decisions. Not thread-safe: the scheduler holds its lock around every call."""

    def __init__(
        self, config: Config, recorder: Recorder, intake: Intake, archive: Archive, source: CapacitySource
    ) -> None:
        self.capacity = Capacity(0, "fixed")
        self.late = 0
        self.policy_failures = 0
        """Epochs in which `fair` decided because the policy broke."""
        self.preemptions: Counter[str] = Counter()
        """How often jobs of each user made room for a trial."""
        self.decide_s = self._longest_s = 0.0
        self.problems = Problems()
        self._config, self._recorder, self._intake, self._archive = config, recorder, intake, archive
        self._source = source
        self._foreseer = recorder.foreseer
        self._born_s = self._next_s = recorder.state.now_s
        self._decided_s = math.inf
        self._settled = False
        self._spare = 0.0
        """Cores that the latest decision left over."""

    def decide(self, now_s: float, due_s: float, wall: float) -> None:
        """One decision."""
        if now_s - due_s > LATE * self._recorder.state.epoch_s:
            self.late += 1
        self._excuse(now_s, due_s)
        self._set_capacity(now_s)
        self._settle_shares(now_s)
        self._recorder.flush()
        self._reflect(lambda: self._foreseer.judge(self._recorder.state.jobs, self._intake.jobs))
        failed = False
        for effect in self._recorder.decide(now_s):
            match effect:
                case JobEnded(job=job):
                    self._intake.ended(job, wall)
                case JobPreempted():
                    self._preempted(effect)
                case PolicyFailed():
                    failed = True
                    self._policy_failed(effect)
                case Allocated(epoch=epoch, decision=decision):
                    self._grant(decision, epoch, wall)
                    self._reflect(lambda: self._foreseer.expect(decision.cores, self._intake.jobs))
        if not failed:
            self.problems.clear("policy")
        self._decided_s = now_s
        self._after(now_s)

    def undecided_s(self, now_s: float) -> float:
        """The age of the latest decision; negative before the first one, when there are no grants to expire."""
        return now_s - self._decided_s

    def hastened(self, beat: Beat, now_s: float) -> bool:
        """Whether a beat brings the next decision forward: a job began, showed its first loss, or ended.

        Only an application that is alone hears of an early decision at once. With others, what is given to one before
        the rest have heard that it is taken from them would be held twice.
        """
        news = any(job.declared or job.ended or (job.reports and not job.first) for job in beat.jobs)
        rested = self.undecided_s(now_s) >= max(SOONEST_S, SOONEST_COST * self.decide_s)
        return news and rested and len(self._intake.apps) == 1

    def took(self, seconds: float) -> None:
        """How long the decision took; a long one is remembered for a while."""
        self.decide_s = seconds
        self._longest_s = max(seconds, LONGEST_DECAY * self._longest_s)

    def next_beat_s(self, app: App, now_s: float) -> float:
        """When the application should beat again: shortly before the next decision or soon after it, each at its own
        moment."""
        epoch_s, apps = self._recorder.state.epoch_s, len(self._intake.apps)
        spread = min(apps * BEAT_SPACING_S, max(BEAT_WINDOW * epoch_s - self._longest_s, 0.0))
        shortest = SHORTEST_BEAT * epoch_s
        until = max(self._next_s - now_s, 0.0)
        before = until - LEAD_S - app.phase * spread
        if before > shortest and 2.0 * apps <= FRESH_BEATS * BEATS_PER_S * epoch_s:
            wait = before
        else:
            wait = until + self._longest_s + app.phase * spread + max(apps / BEATS_PER_S - epoch_s, 0.0)
        return min(max(wait, shortest), LONGEST_BEAT_S, self._recorder.state.lease_s / 3)

    def cores_of(self, app: App) -> float | None:
        """Cores of an application until the next decision; one that begins to work between two gets some at once.

        That is all there is to spare, and one core if there is nothing and everyone is due one: to wait would cost
        every short job an epoch. With more jobs than cores it waits, or all together would hold too much.
        """
        if self._recorder.state.epoch == 0:
            return None  # nobody's cores are decided yet
        if app.granted < 1.0 and any(job.granted is None for job in app.jobs.values()):
            everyone_has_one = len(self._intake.jobs) <= self.capacity.cores
            lent = max(self._spare, 1.0 - app.granted if everyone_has_one else 0.0)
            self._spare = max(self._spare - lent, 0.0)
            app.granted += lent
        return app.granted

    def expect_next(self, due_s: float, skipped: int) -> None:
        """When the next decision is due, and how many were left out since the last one."""
        self._next_s = due_s
        self.late += skipped

    def reconfigure(self, config: Config, source: CapacitySource) -> None:
        """Go on with another configuration."""
        self._source.close()
        self._config, self._source = config, source
        self._intake.unsettled.update(job.user for job in self._intake.jobs.values())

    def close(self) -> None:
        """Stop reading the capacity."""
        self._source.close()

    def _reflect(self, think: Callable[[], None]) -> None:
        """Judge predictions, which are for people to read only: a failure must not cost a decision."""
        try:
            think()
        except Exception as error:
            self.problems.tell("foresight", f"predictions could not be judged: {type(error).__name__}: {error}")
        else:
            self.problems.clear("foresight")

    def _policy_failed(self, failure: PolicyFailed) -> None:
        self.policy_failures += 1
        self.problems.tell("policy", f"policy {failure.policy} failed, `fair` decided instead: {failure.error}")

    def _preempted(self, told: JobPreempted) -> None:
        self.preemptions[told.user] += 1
        kept = f"keeps {told.cores:.3g} cores" if told.cores else "waits"
        log.info("job %s %s: it makes room for the trial %s (time %d)", told.job_id, kept, told.trial, told.times)

    def _excuse(self, now_s: float, due_s: float) -> None:
        """If this process was stopped, the jobs' silence is its own fault: they count as heard of."""
        if now_s - due_s > self._recorder.state.lease_s / 2:
            for job in self._intake.jobs.values():
                self._recorder.happened(JobSeen(now_s, job.key))
            for app in self._intake.apps.values():
                app.seen_s = now_s

    def _set_capacity(self, now_s: float) -> None:
        self.capacity = self._source.now(app.cores or 0.0 for app in self._intake.apps.values())
        if self.capacity.cores != self._recorder.state.cores:
            self._recorder.happened(CapacityChanged(now_s, self.capacity.cores))
        if self.capacity.problem:
            self.problems.tell("capacity", self.capacity.problem)
        else:
            self.problems.clear("capacity")

    def _settle_shares(self, now_s: float) -> None:
        """Tell the engine what the jobs of users are due, where that may have changed."""
        if not self._intake.unsettled:
            return
        self._recorder.flush()
        changed: list[Share] = []
        for user, jobs in self._unsettled().items():
            due = zip(jobs, shares(user, jobs, self._config), strict=True)
            changed += [share for (_, known), share in due if share != share_now(known)]
        if changed:
            self._recorder.happened(SharesChanged(now_s, tuple(changed)))
        self._settle_users(now_s)
        self._intake.unsettled.clear()

    def _settle_users(self, now_s: float) -> None:
        """Tell the engine how users share, if that changed."""
        state, fair = self._recorder.state, self._config.scheduler.between_users == "fair"
        dues = user_dues(self._config, {job.user for job in state.jobs.values()})
        if fair != state.fair_users or dues != tuple(state.users.values()):
            self._recorder.happened(UsersChanged(now_s, fair, dues))

    def _unsettled(self) -> dict[str, list[tuple[LiveJob, Job]]]:
        """The jobs of each user whose shares are unsettled, in order of arrival."""
        known = self._recorder.state.jobs
        found: dict[str, list[tuple[LiveJob, Job]]] = {}
        for key, job in self._intake.jobs.items():
            if job.user in self._intake.unsettled and key in known:
                found.setdefault(job.user, []).append((job, known[key]))
        return found

    def _grant(self, decision: Decision, epoch: int, wall: float) -> None:
        cores, reasons = decision.cores, decision.reasons
        together = self._together(decision)
        if len(self._intake.apps) > 1:
            cores = take_turns(cores, self._intake.jobs)
        for app in self._intake.apps.values():
            app.granted = 0.0
        fair = self._recorder.state.fair_users
        for key, job in self._intake.jobs.items():
            granted = cores.get(key, 0.0)
            jobs, whole = together.get(job.user if fair else "", (0, 0.0))
            job.user_cores = whole if fair else None
            decided = (decision.policy, epoch, 1.0 if jobs <= whole + 1e-9 else 0.0)
            job.app.granted += granted
            before = job.granted
            if before is None or abs(granted - before) > 0.01 * before:
                job.cores.add(wall, granted)
                job.changes.append((wall, granted, reasons.get(key, job.reason)))
            job.granted, job.reason, job.decided = granted, reasons.get(key, job.reason), decided
        self._spare = max(self.capacity.cores - sum(cores.values()), 0.0)

    def _together(self, decision: Decision) -> dict[str, tuple[int, float]]:
        """The jobs that share cores, their number and these cores: those of each user, or all under an empty name."""
        state = self._recorder.state
        if not state.fair_users:
            return {"": (len(decision.cores), float(state.cores))}
        found: dict[str, tuple[int, float]] = {}
        for key, cores in decision.cores.items():
            user = state.jobs[key].user
            jobs, whole = found.get(user, (0, 0.0))
            found[user] = jobs + 1, whole + cores
        return found

    def _after(self, now_s: float) -> None:
        state, intake = self._recorder.state, self._intake
        intake.forget_silent(now_s, state.lease_s)
        if not self._settled and now_s - self._born_s > state.lease_s:
            # A job that was alive when the previous scheduler ended and has not come back by now is gone.
            self._settled = True
            self._archive.lose_others()
        # A few each epoch, so that thousands of jobs do not hit the disk at once.
        most = 1 + int(len(intake.jobs) * state.epoch_s / STORE_S)
        stale = (job for job in intake.jobs.values() if now_s - job.stored_s > STORE_S)
        some = list(islice(stale, most))
        for job in some:
            job.stored_s = now_s
        self._recorder.save(some)
