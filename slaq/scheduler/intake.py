"""What agents say: applications and jobs come, report, end; each report counts once, whatever is sent twice."""

import math
import zlib
from collections.abc import Sequence

from msgspec.structs import replace

from slaq.config import Config
from slaq.engine import JobEnded, JobJoined, JobMoved, JobReported, JobSeen
from slaq.errors import SlaqError
from slaq.model import EMPTY_HISTORY, Job
from slaq.model.job import validated
from slaq.model.life import Command
from slaq.oasis import of_wish
from slaq.protocol import Beat, Declaration, JobBeat, Report, job_key
from slaq.protocol.beat import MAX_JOBS
from slaq.protocol.names import printable
from slaq.records import Outcome
from slaq.scheduler.experience import Experience
from slaq.scheduler.live import CORES_POINTS, LOSS_POINTS, App, Foresight, LiveJob
from slaq.scheduler.owners import owner_of
from slaq.scheduler.recorder import Recorder
from slaq.scheduler.refusal import ForbiddenError, TooManyError
from slaq.scheduler.rows import history_of
from slaq.scheduler.store import Archive, JobRow
from slaq.scheduler.store.curve import Curve

PLANS = "oasis"
"""The policy that plans for deadlines and utilities."""

_ENDS: dict[Outcome, Command] = {"finished": "finish", "stopped": "stop", "failed": "fail", "cancelled": "cancel"}
_NAMES = ("name", "estimator", "group", "user", "unstoppable")
"""Texts of a declaration that people get to see."""


class Intake:
    """The applications and jobs that are alive. Not thread-safe: the scheduler holds its lock around every call."""

    def __init__(
        self, config: Config, recorder: Recorder, archive: Archive, experience: Experience, incarnation: int
    ) -> None:
        self.config = config
        self.apps: dict[str, App] = {}
        self.jobs: dict[str, LiveJob] = {}
        """By key, in order of arrival."""
        self.unsettled: set[str] = set()
        """Users whose jobs came, went or changed: their shares have to be worked out anew."""
        self.beats = self.reports = self.missed = self.dropped = 0
        """Beats and reports taken, reports that never came, and those that agents say they dropped."""
        self._recorder = recorder
        self._archive = archive
        self._experience = experience
        self._incarnation = incarnation

    def take(
        self, beat: Beat, user: str | None, now_s: float, wall: float, serves: bool = False
    ) -> tuple[App, dict[str, int]]:
        """Take in a beat; the application, and the jobs to be declared (again) with the report to start from.

        `serves`: its sender may name the user of each job.
        """
        app = self._app(beat, beat.user if user is None else user, now_s)
        app.serves = serves or user is None
        self._count(app, now_s)
        again: dict[str, int] = {}
        if beat.seq <= app.seq:
            return app, again
        app.seq, app.seen_s, app.name, app.cores, app.notice = beat.seq, now_s, printable(beat.name), beat.cores, ""
        app.heard_earlier = 0 < beat.incarnation < self._incarnation
        self.beats += 1
        self.dropped += max(beat.dropped - app.dropped, 0)
        app.dropped = beat.dropped
        for message in beat.jobs:
            self._job(app, message, now_s, wall, again)
        if beat.leaving:
            app.cores = None  # its executors go with it
            for job in list(app.jobs.values()):
                self._end(job, "lose", now_s, wall)
        if len(app.over) > MAX_JOBS:
            mentioned = {message.id for message in beat.jobs}
            app.over = {job_id: ticket for job_id, ticket in app.over.items() if job_id in mentioned}
        return app, again

    def saved(self, app: App, beat: Beat) -> list[str]:
        """The ended jobs of a beat that are safe in the archive."""
        over = app.over
        if not over:
            return []
        return [job.id for job in beat.jobs if job.ended and job.id in over and self._archive.is_saved(over[job.id])]

    def ended(self, known: Job, wall: float) -> None:
        """The engine's word that a job is no longer alive."""
        job = self.jobs.pop(known.id, None)
        if job is not None:
            job.past = self._experience.gained(job, known)
            job.app.over[job.id] = self._recorder.save_ended(job, known, wall)
            job.app.jobs.pop(job.id, None)
            self.unsettled.add(job.user)

    def forget_silent(self, now_s: float, lease_s: float) -> None:
        """Applications without a living job that have been silent for longer than a lease."""
        for app in [app for app in self.apps.values() if not app.jobs and now_s - app.seen_s > lease_s]:
            del self.apps[app.id]

    def _app(self, beat: Beat, user: str, now_s: float) -> App:
        app = self.apps.get(beat.app)
        if app is not None:
            if app.user != printable(user):
                raise ForbiddenError(f"application {beat.app} belongs to another user")
            return app
        if len(self.apps) >= self.config.limits.applications:
            raise TooManyError(
                f"{len(self.apps)} applications are connected, which is the limit; raise limits.applications"
            )
        phase = zlib.crc32(beat.app.encode()) / 2**32
        app = self.apps[beat.app] = App(beat.app, printable(user), seen_s=now_s, phase=phase)
        return app

    def _count(self, app: App, now_s: float) -> None:
        if now_s - app.window_s >= 1.0:
            app.window_s, app.window_beats = now_s, 0
        app.window_beats += 1
        if app.window_beats > self.config.limits.requests_per_s:
            raise TooManyError(
                f"application {app.id} beats more than {self.config.limits.requests_per_s:g} times a second"
            )

    def _job(self, app: App, message: JobBeat, now_s: float, wall: float, again: dict[str, int]) -> None:
        job = app.jobs.get(message.id)
        if job is None:
            job = self._join(app, message, now_s, wall, again)
            if job is None:
                return
        elif message.declared is not None and message.declared != job.declared:
            self._declare_anew(job, message.declared, now_s)
        job.seen_at = wall
        if message.first > job.received and message.declared is None:
            # A gap is asked for once: the reply brings a declaration, and what it still lacks is gone.
            again[message.id] = job.received
            self._recorder.happened(JobSeen(now_s, job.key, message.held_core_s, message.due_core_s))
            return
        if message.idle != job.resting:
            self._rest(job, message.idle, now_s)
        reports = self._new(job, message)
        if reports:
            _draw(job, reports, wall)
            self._recorder.happened(
                JobReported(now_s, job.key, tuple(reports), message.held_core_s, message.due_core_s)
            )
        else:
            self._recorder.happened(JobSeen(now_s, job.key, message.held_core_s, message.due_core_s))
        if message.ended is not None:
            self._end(job, _ENDS[message.ended.outcome], now_s, wall)

    def _rest(self, job: LiveJob, resting: bool, now_s: float) -> None:
        """A job has no task to run, or has some again and gets cores as a new one does."""
        job.resting = resting
        if not resting and "held" not in self._recorder.known(job).life.waits:
            job.granted = None
        self._recorder.happened(JobMoved(now_s, job.key, "rest" if resting else "work"))
        self.unsettled.add(job.user)

    def _end(self, job: LiveJob, move: Command, now_s: float, wall: float) -> None:
        """A job ends, and is gone when this returns."""
        self._recorder.happened(JobMoved(now_s, job.key, move))
        for effect in self._recorder.effects():
            if isinstance(effect, JobEnded):
                self.ended(effect.job, wall)

    def _join(self, app: App, message: JobBeat, now_s: float, wall: float, again: dict[str, int]) -> LiveJob | None:
        """The new job; None if it is over, unwanted, or has to be declared first."""
        if message.ended is not None and message.id in app.over:
            return None
        key = job_key(app.id, message.id)
        earlier = self._archive.known(key)
        undeclared = message.declared is None and app.serves  # then its user is not known yet
        if earlier is not None and not undeclared and earlier.user != owner_of(app, message.declared):
            app.notice = f"job {key} belongs to another user and runs unscheduled"
            again[message.id] = 0
            return None
        if earlier is not None and earlier.over:
            # Ids are not used twice: this is an old beat, or the end is repeated until it is saved.
            app.over[message.id] = self._archive.ticket()
            return None
        past = None if earlier is None else earlier.row
        kept = 0 if past is None else past.body.received
        # A declaration may still answer the scheduler before this one, which had more of the job than was kept.
        if message.declared is None or (message.first > kept and app.heard_earlier):
            again[message.id] = kept
            return None
        job = _revived(key, app, message, past, wall)
        declared = self._engine_job(job, past)
        if not self._room(app) or not _makes_sense(declared, app):
            again[message.id] = 0
            return None
        self.jobs[key] = app.jobs[message.id] = job
        app.over.pop(message.id, None)
        self.unsettled.add(job.user)
        self._recorder.happened(JobJoined(now_s, declared))
        if job.declared.wish.timed and (policy := self._recorder.state.policy) != PLANS:
            app.notice = f"policy {policy} looks at no deadline or utility; with scheduler.policy = {PLANS} they count"
        if past is not None and past.body.held:
            self._recorder.happened(JobMoved(now_s, key, "hold"))
        self._recorder.save([job])
        return job

    def _declare_anew(self, job: LiveJob, declared: Declaration, now_s: float) -> None:
        """A job changes what it said of itself; its shares follow with the next epoch (`unsettled`)."""
        before, job.declared = job.declared, _shown(declared)
        changed = self._engine_job(job)
        if not _makes_sense(changed, job.app):
            job.declared = before
            return
        self._recorder.happened(JobJoined(now_s, changed))
        self.unsettled.add(job.user)

    def _engine_job(self, job: LiveJob, past: JobRow | None = None) -> Job:
        """The job as the engine takes it; what its user is due follows by `SharesChanged`."""
        declared, tuning = job.declared, self._recorder.state.tuning
        wish = declared.wish.after(job.age_s)
        utility = of_wish(wish, tuning.plan_slot_s)
        return Job(
            id=job.key,
            user=job.user,
            group=declared.group,
            weight=declared.weight if job.weight is None else job.weight,
            max_cores=math.inf if declared.max_cores is None else declared.max_cores,
            target_loss=declared.target_loss,
            max_iterations=declared.max_iterations,
            ml=declared.ml,
            estimator=declared.estimator,
            expected=self._experience.expects(declared),
            history=EMPTY_HISTORY if past is None else history_of(past),
            attained_core_s=0.0 if past is None else past.summary.core_s,
            ready_core_s=None if past is None else past.body.ready_core_s,
            utility=None if utility is None else (utility.worth, utility.urgency, utility.target),
            te=wish.kind == "te",
            preemptions=0 if past is None or past.body.explanation is None else past.body.explanation.preemptions,
        )

    def _room(self, app: App) -> bool:
        limits = self.config.limits
        if len(app.jobs) >= limits.jobs_per_application:
            app.notice = f"more than {limits.jobs_per_application} jobs in this application: the others run unscheduled"
            return False
        if len(self.jobs) >= limits.jobs:
            app.notice = f"the scheduler has {limits.jobs} jobs, its limit: the others run unscheduled"
            return False
        return True

    def _new(self, job: LiveJob, message: JobBeat) -> Sequence[Report]:
        """The reports of a message that are new."""
        end = message.first + len(message.reports)
        if end <= job.received:
            return ()
        self.missed += max(message.first - job.received, 0)
        reports = message.reports[max(job.received - message.first, 0) :]
        job.received = end
        self.reports += len(reports)
        return reports


def _revived(key: str, app: App, message: JobBeat, past: JobRow | None, wall: float) -> LiveJob:
    """The job, with what the archive remembers of it."""
    declared = _shown(message.declared or Declaration())
    began_at = declared.began_at if 0.0 < declared.began_at <= wall else wall
    owner = owner_of(app, declared)
    job = LiveJob(key, message.id, app, declared, began_at, wall, received=message.first, owner=owner)
    if past is not None:
        body = past.body
        job.weight, job.cancel, job.received = body.own_weight, body.cancel, body.received
        job.stop = body.stop
        job.losses, job.cores = Curve(LOSS_POINTS, body.losses), Curve(CORES_POINTS, body.cores)
        job.began_at = past.summary.began_at
        job.age_s = max(wall - next((at for at, _ in body.cores), wall), 0.0)
        if body.prediction is not None and body.prediction.mean_error is not None:
            judged = body.prediction.judged
            job.foresight = Foresight(error_sum=body.prediction.mean_error * judged, judged=judged)
    return job


def _makes_sense(job: Job, app: App) -> bool:
    """Whether the engine takes the job; its application is told why not."""
    try:
        validated(job)
    except SlaqError as error:
        app.notice = f"{error}; it runs unscheduled"
        return False
    return True


def _draw(job: LiveJob, reports: Sequence[Report], wall: float) -> None:
    """The curve for people grows by these reports, and so does what the job has cost."""
    for report in reports:
        job.spending.add(report)
        number = report.iteration
        if number is None:
            number = int(job.losses.latest[1]) + 1 if job.losses.seen else 0
        job.losses.add(wall, number, math.nan if report.loss is None else report.loss)


def _shown(declared: Declaration) -> Declaration:
    """The declaration with texts that are safe to print."""
    names = {field: printable(getattr(declared, field)) for field in _NAMES}
    params = {
        printable(name): printable(value) if isinstance(value, str) else value
        for name, value in declared.traits.params.items()
    }
    return replace(declared, **names, traits=replace(declared.traits, params=params))
