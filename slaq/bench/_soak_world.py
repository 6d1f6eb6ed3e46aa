"""A scheduler and its store on virtual clocks, and applications that only say what agents would say."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from slaq.config import Config, LimitsConfig, RetentionConfig, SchedulerConfig
from slaq.protocol import PROTOCOL, Beat, Declaration, Ended, JobBeat, Report, Status
from slaq.scheduler.core import Scheduler
from slaq.scheduler.store.disk import DiskArchive

EPOCH_S, LEASE_S, CAPACITY = 1.0, 10.0, 32
SIZE_MB, LOG_MB, AGE_D = 4.0, 8.0, 0.25
"""Small limits, so that a day runs into all of them."""
ITERATIONS = (20, 1500)
PER_CORE_S = 2.0
"""Iterations a second on one core."""
MOST_REPORTS = 200
DEATHS = 0.0002
"""Of an application in an epoch: it says no more, and another one comes in its place."""
BEHIND = 15
"""Epochs that may wait for the disk; real time gives it a second for each."""


@dataclass
class _Application:
    app: str
    seq: int = 0
    job: int = 0
    iterations: int = 0
    made: int = 0
    sent: int = 0
    declared: bool = False
    cores: float = 0.0
    over: dict[str, int] = field(default_factory=dict)
    """Ended jobs that are not saved yet, with the number of their reports."""


class SoakWorld:
    """Its `epoch` is a second of virtual time: every application beats, then the scheduler decides."""

    def __init__(self, folder: Path, applications: int, seed: int) -> None:
        self._chance = Random(seed)
        self._now_s = 1000.0
        self._folder = folder
        self.ended = self.lost = 0
        self._named = 0
        config = Config(
            scheduler=SchedulerConfig(epoch_s=EPOCH_S, lease_s=LEASE_S, capacity=CAPACITY),
            retention=RetentionConfig(age_d=AGE_D, size_mb=SIZE_MB, log_mb=LOG_MB),
            limits=LimitsConfig(),
        )
        self._archive = DiskArchive(folder, config.retention, self._clock, self._wall)
        self._scheduler = Scheduler(
            config, self._archive, incarnation=self._archive.incarnation, clock=self._clock, wall=self._wall
        )
        self._applications = [self._fresh() for _ in range(applications)]

    def epoch(self) -> float:
        """One epoch; the seconds that its decision took."""
        self._now_s += EPOCH_S
        for place, application in enumerate(self._applications):
            if self._chance.random() < DEATHS:
                self.lost += 1
                self._applications[place] = self._fresh()
            else:
                self._beat(application)
        began_s = time.perf_counter()
        self._scheduler.decide()
        took_s = time.perf_counter() - began_s
        while self._archive.behind > BEHIND:
            time.sleep(0.002)
        return took_s

    def status(self) -> Status:
        """The scheduler in one look."""
        return self._scheduler.status()

    def disk_mb(self, what: str) -> float:
        """The size of the files whose names begin so."""
        return sum(file.stat().st_size for file in self._folder.glob(f"{what}*")) / 1e6

    def close(self) -> None:
        """End the scheduler and its store."""
        self._scheduler.close()
        self._archive.close()

    def _clock(self) -> float:
        return self._now_s

    def _wall(self) -> float:
        return 1e9 + self._now_s

    def _fresh(self) -> _Application:
        self._named += 1
        application = _Application(f"soak{self._named:08}")
        self._next_job(application)
        return application

    def _next_job(self, application: _Application) -> None:
        application.job += 1
        application.iterations = self._chance.randint(*ITERATIONS)
        application.made = application.sent = 0
        application.declared = False
        application.cores = 0.0

    def _beat(self, application: _Application) -> None:
        most = min(application.iterations, application.sent + MOST_REPORTS)
        application.made = min(application.made + int(application.cores * PER_CORE_S * EPOCH_S), most)
        new = [
            Report(1.0 / (1 + iteration) + 0.01, iteration, 1.0 / PER_CORE_S, 0.01)
            for iteration in range(application.sent, application.made)
        ]
        job = str(application.job)
        declared = None if application.declared else Declaration(f"job {job}", "Soak", max_cores=8.0)
        over = application.made == application.iterations
        messages = [JobBeat(each, None, count, [], Ended()) for each, count in application.over.items()]
        messages.append(JobBeat(job, declared, application.sent, new, Ended() if over else None))
        application.seq += 1
        answer = self._scheduler.beat(
            Beat(PROTOCOL, application.app, application.seq, user="soak", cores=8.0, jobs=messages)
        )
        application.declared, application.sent = True, application.made
        application.cores = answer.grants.get(job, 1.0)
        for saved in answer.saved:
            application.over.pop(saved, None)
        if over:
            application.over[job] = application.made
            self.ended += 1
            self._next_job(application)
