"""The scheduler without a network: takes beats, decides every epoch, answers questions.

Thread-safe. Time comes from the clocks it is given; its owner calls `decide` once an epoch.
"""

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import slaq
from slaq.config import Config
from slaq.engine import JobMoved, PolicyChanged, PredictorChanged, State, TuningChanged
from slaq.model import PastFit, Tuning
from slaq.model.tuning import WORTH_OF_THE_END
from slaq.protocol import (
    OLDEST,
    PROTOCOL,
    Answer,
    Beat,
    Change,
    DecisionPoint,
    Dump,
    JobDetail,
    JobList,
    JobView,
    Status,
    understood,
)
from slaq.records import LIVING, Param
from slaq.scheduler import views
from slaq.scheduler.capacity import CapacitySource
from slaq.scheduler.epochs import Epochs
from slaq.scheduler.experience import Experience
from slaq.scheduler.intake import Intake
from slaq.scheduler.live import App, LiveJob
from slaq.scheduler.query import JobQuery
from slaq.scheduler.recorder import Recorder
from slaq.scheduler.refusal import OverError, UndecidedError, UnknownJobError, UnstoppableError, VersionError
from slaq.scheduler.rows import detail_of, view_of
from slaq.scheduler.store import Archive, JobRow, MemoryArchive

MOST_LISTED = 2000
"""Ended jobs that one question looks at, newest first."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Counters:
    """What should stay at 0."""

    policy_failures: int
    """Epochs in which `fair` decided because the policy broke."""
    missed_reports: int
    """Reports that never came."""
    rejected_events: int
    """Events that the engine refused."""


class Scheduler:
    """One scheduler: `beat` for agents, `decide` for its owner, the rest for people."""

    def __init__(
        self,
        config: Config,
        archive: Archive | None = None,
        *,
        incarnation: int = 1,
        clock: Clock = time.monotonic,
        wall: Clock = time.time,
    ) -> None:
        self.config = config
        self.incarnation = incarnation
        self.archive: Archive = archive or MemoryArchive()
        self._clock, self._wall = clock, wall
        self._started_at = wall()
        self._lock = threading.RLock()
        state = State(
            policy=config.scheduler.policy,
            predictor=config.scheduler.predictor,
            epoch_s=config.scheduler.epoch_s,
            lease_s=config.scheduler.lease_s,
            now_s=clock(),
            tuning=tuning_of(config),
        )
        self.recorder = Recorder(state, self.archive)
        self.experience = Experience(config)
        self.intake = Intake(config, self.recorder, self.archive, self.experience, incarnation)
        self.epochs = Epochs(config, self.recorder, self.intake, self.archive, CapacitySource(config.scheduler))

    def beat(self, beat: Beat, user: str | None = None, serves: bool = False) -> Answer:
        """The answer to an agent's beat; `user` is who sent it; None: the user that the beat names.

        `serves`: they may name the user of each job.
        """
        if not understood(beat.protocol, beat.oldest):
            raise VersionError(f"the beat is of protocol {beat.protocol}, this scheduler speaks {PROTOCOL}")
        with self._lock:
            now_s = self._clock()
            app, again = self.intake.take(beat, user, now_s, self._wall(), serves)
            # Only now: what the beat says counts for the next decision, and its jobs are not lost meanwhile.
            if self.epochs.undecided_s(now_s) > self.recorder.state.lease_s:
                raise UndecidedError(
                    f"the latest decision is {self.epochs.undecided_s(now_s):.0f} s old and holds no longer; "
                    "the scheduler's log says why there is no newer one"
                )
            if self.epochs.hastened(beat, now_s):
                self.decide()
            if beat.incarnation > self.incarnation:
                self.epochs.problems.tell("two", f"application {app.id} has heard of a newer scheduler: are there two?")
            return Answer(
                protocol=PROTOCOL,
                incarnation=self.incarnation,
                epoch=self.recorder.state.epoch,
                lease_s=self.recorder.state.lease_s,
                next_beat_s=self.epochs.next_beat_s(app, now_s),
                grants={job.id: job.granted for job in app.jobs.values() if job.granted is not None},
                standby=app.standby(self.recorder.state.jobs),
                kept=self._kept(app),
                users_first=self.recorder.state.fair_users,
                standings={job.id: job.standing for job in app.jobs.values() if job.standing is not None},
                cores=self.epochs.cores_of(app),
                resend=again,
                saved=self.intake.saved(app, beat),
                cancel=[job.id for job in app.jobs.values() if job.cancel],
                stop=[job.id for job in app.jobs.values() if job.stop],
                notice=app.notice,
                oldest=OLDEST,
            )

    def decide(self, due_s: float | None = None) -> None:
        """One epoch's decision, which should have come at `due_s` on the clock."""
        with self._lock:
            now_s = self._clock()
            self.epochs.decide(now_s, now_s if due_s is None else due_s, self._wall())
            self.epochs.took(self._clock() - now_s)

    def locked(self) -> threading.RLock:
        """The lock, for whoever reads what is alive; to be held for a moment only."""
        return self._lock

    def remember(self, fits: Iterable[PastFit]) -> None:
        """Expect of new fits what these past ones took, oldest first."""
        with self._lock:
            self.experience.fits.add(fits)

    def expect_next(self, due_s: float, skipped: int = 0) -> None:
        """When the next decision is due, and how many were left out since the last one."""
        with self._lock:
            self.epochs.expect_next(due_s, skipped)

    def reconfigure(self, config: Config) -> None:
        """Go on with another configuration; no job is lost."""
        with self._lock:
            now_s, scheduler = self._clock(), config.scheduler
            self.config = self.intake.config = self.experience.config = config
            self.recorder.happened(TuningChanged(now_s, scheduler.epoch_s, scheduler.lease_s, tuning_of(config)))
            self.recorder.happened(PolicyChanged(now_s, scheduler.policy))
            self.recorder.happened(PredictorChanged(now_s, scheduler.predictor))
            self.epochs.reconfigure(config, CapacitySource(scheduler))

    def close(self) -> None:
        """Write down every living job; they may come back to the next scheduler."""
        with self._lock:
            self.recorder.save(list(self.intake.jobs.values()))
            self.epochs.close()

    def change(self, key: str, change: Change, user: str | None = None) -> JobView:
        """What a user changes of a job; `user` None is an administrator."""
        with self._lock:
            job = self.intake.jobs.get(key)
            if job is not None and _may_see(user, job.user):
                return self._changed(job, change)
        row = self.archive.load(key)
        if row is None or not _may_see(user, row.summary.user):
            raise UnknownJobError(f"there is no job {key!r}; `slaq jobs` lists them")
        raise OverError(f"job {key} is {row.summary.state}; only living jobs can be changed")

    def jobs(self, query: JobQuery) -> JobList:
        """A page of jobs, the living and the ended."""
        with self._lock:
            wanted = [job for job in self.intake.jobs.values() if _may_see(query.user, job.user)]
            found = [view for view in self.recorder.views(wanted) if view.state in query.states]
        ended, count = self.archive.select(query.user, query.states, MOST_LISTED)
        return JobList(query.page([*found, *map(view_of, ended)]), len(found) + count)

    def job(self, key: str, user: str | None = None) -> JobDetail:
        """All there is to know of a job."""
        row: JobRow | None = None
        params: dict[str, Param] = {}
        decisions: list[DecisionPoint] = []
        with self._lock:
            if (live := self.intake.jobs.get(key)) is not None:
                row = self.recorder.rows([live])[0]
                params = live.declared.traits.params
                decisions = [DecisionPoint(at, cores, str(why)) for at, cores, why in live.changes if why is not None]
        row = row or self.archive.load(key)
        if row is None or not _may_see(user, row.summary.user):
            raise UnknownJobError(f"there is no job {key!r}; `slaq jobs` lists them")
        return detail_of(row, params, decisions)

    def status(self) -> Status:
        """The scheduler in one look."""
        ended, problems = self.archive.counts(), self.archive.problems()
        with self._lock:
            self.recorder.flush()
            living = self.intake.jobs.values()
            state, epochs = self.recorder.state, self.epochs
            states = Counter(self.recorder.known(job).life.state for job in living)
            return Status(
                version=slaq.__version__,
                protocol=PROTOCOL,
                incarnation=self.incarnation,
                started_at=self._started_at,
                now_at=self._wall(),
                policy=state.policy,
                epoch_s=state.epoch_s,
                lease_s=state.lease_s,
                epoch=state.epoch,
                epochs_late=epochs.late,
                decide_s=epochs.decide_s,
                capacity=epochs.capacity,
                granted_cores=sum(job.granted or 0.0 for job in living),
                applications=len(self.intake.apps),
                jobs=dict.fromkeys(LIVING, 0) | states | ended,
                mean_loss=views.mean_normalised(living),
                reports=self.intake.reports,
                beats=self.intake.beats,
                dropped_reports=self.intake.dropped,
                problems=[*epochs.problems.sentences(), *problems],
            )

    def counters(self) -> Counters:
        """What should stay at 0."""
        return Counters(self.epochs.policy_failures, self.intake.missed, self.recorder.rejected)

    def by_user(self) -> dict[str, tuple[int, float]]:
        """The living jobs of each user, and the cores that these hold together."""
        with self._lock:
            found: dict[str, tuple[int, float]] = {}
            for job in self.intake.jobs.values():
                jobs, cores = found.get(job.user, (0, 0.0))
                found[job.user] = jobs + 1, cores + (job.granted or 0.0)
            return found

    def preemptions(self) -> dict[str, int]:
        """How often jobs of each user made room for a trial."""
        with self._lock:
            return dict(self.epochs.preemptions)

    def dump(self) -> Dump:
        """Everything that is in memory."""
        status = self.status()
        with self._lock:
            settings = {name: getattr(self.config, name) for name in ("scheduler", "limits", "retention", "users")}
            apps = [
                {
                    "id": app.id, "user": app.user, "name": app.name, "seq": app.seq, "cores": app.cores,
                    "silent_s": self._clock() - app.seen_s, "dropped": app.dropped, "jobs": sorted(app.jobs),
                }
                for app in self.intake.apps.values()
            ]  # fmt: skip
            rows = self.recorder.rows(list(self.intake.jobs.values()))
        return Dump(status, settings, apps, [detail_of(row) for row in rows])

    def _kept(self, app: App) -> list[str]:
        """The jobs of users who may not have more than so many cores, even if these are idle."""
        if all(user.max_cores == math.inf for user in self.config.users.values()):
            return []
        return [job.id for job in app.jobs.values() if self.config.standing(job.user).max_cores < math.inf]

    def _changed(self, job: LiveJob, change: Change) -> JobView:
        if change.stop and (obstacle := _obstacle(job)):
            raise UnstoppableError(f"job {job.key} cannot be stopped early: {obstacle}")
        job.weight = job.weight if change.weight is None else change.weight
        job.cancel = job.cancel or change.cancel is True
        job.stop = job.stop or change.stop is True
        if change.held is not None:
            self.recorder.happened(JobMoved(self._clock(), job.key, "hold" if change.held else "release"))
            job.granted = 0.0 if change.held else job.granted
        self.intake.unsettled.add(job.user)
        self.recorder.save([job])
        return self.recorder.views([job])[0]


def tuning_of(config: Config) -> Tuning:
    """The numbers that the decisions are made with; what `[tuning]` says goes before what is preferred in words."""
    return Tuning(**{"worth_end": WORTH_OF_THE_END[config.scheduler.prefer]} | config.tuning)


def _obstacle(job: LiveJob) -> str:
    """Why a job cannot be ended early with the model it has; empty: it can."""
    if not job.declared.ml:
        return "no loss of it is known, so there is no model to keep"
    return job.declared.unstoppable


def _may_see(user: str | None, owner: str) -> bool:
    return user is None or user == owner
