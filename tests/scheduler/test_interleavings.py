"""Beats that are lost, doubled or late, answers that are lost, restarts and crashes: no report and no job is lost or
counted twice, and every decision log replays."""

import shutil
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from slaq.config import LimitsConfig, RetentionConfig
from slaq.protocol import PROTOCOL, Answer, Beat, Declaration, Ended, JobBeat, Report
from slaq.scheduler.query import JobQuery
from slaq.scheduler.store.disk import DiskArchive
from tests.scheduler.support import APP, Bench, make_config, replay, until

JOBS = ("a", "b", "c")


@dataclass
class Sender:
    """One job as an agent holds it: everything it reported, and how much of it the scheduler has."""

    losses: list[float] = field(default_factory=list)
    taken: int = 0
    declare: bool = True
    ended: bool = False
    saved: bool = False


class Interleavings(RuleBasedStateMachine):
    @initialize()
    def start(self) -> None:
        self.quick = patch("slaq.scheduler.store.disk.WRITE_S", 0.0)
        self.quick.start()
        self.folder = Path(tempfile.mkdtemp())
        self.jobs: dict[str, Sender] = {}
        self.sent: list[Beat] = []
        self.open()

    def open(self) -> None:
        self.archive = DiskArchive(self.folder, RetentionConfig(age_d=36_500.0))
        config = make_config(capacity=3, limits=LimitsConfig(requests_per_s=1e6))
        self.bench = Bench(config, self.archive, self.archive.incarnation)
        self.scheduler = self.bench.scheduler

    @rule(job=st.sampled_from(JOBS), count=st.integers(1, 3))
    def train(self, job: str, count: int) -> None:
        sender = self.jobs.setdefault(job, Sender())
        if not sender.ended:
            sender.losses += [100.0 - len(sender.losses) - number for number in range(count)]

    @precondition(lambda self: self.jobs)
    @rule(data=st.data())
    def end(self, data: st.DataObject) -> None:
        self.jobs[data.draw(st.sampled_from(sorted(self.jobs)))].ended = True

    @rule(fate=st.sampled_from(["arrives", "arrives", "is lost", "answer is lost"]), most=st.integers(0, 4))
    def beat(self, fate: str, most: int = 256) -> None:
        beat = Beat(PROTOCOL, APP, len(self.sent), user="alice", jobs=list(self._messages(most)))
        self.sent.append(beat)
        if fate == "is lost":
            return
        answer = self.scheduler.beat(beat)
        if fate == "arrives":
            self._take(beat, answer)

    def _messages(self, most: int):
        for job_id, sender in self.jobs.items():
            if not sender.saved:
                reports = [Report(loss) for loss in sender.losses[sender.taken :][:most]]
                whole = sender.taken + len(reports) == len(sender.losses)
                declared = Declaration(job_id) if sender.declare else None
                yield JobBeat(job_id, declared, sender.taken, reports, Ended() if sender.ended and whole else None)

    def _take(self, beat: Beat, answer: Answer) -> None:
        for message in beat.jobs:
            sender = self.jobs[message.id]
            sender.declare = message.id in answer.resend
            sender.taken = answer.resend.get(message.id, message.first + len(message.reports))
            sender.saved = message.id in answer.saved

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def an_old_beat_arrives(self, data: st.DataObject) -> None:
        self.scheduler.beat(data.draw(st.sampled_from(self.sent)))

    @rule(seconds=st.sampled_from([0.5, 1.0, 6.0]))
    def epoch(self, seconds: float) -> None:
        self.bench.epoch(seconds)

    @rule()
    def everything_is_written(self) -> None:
        ticket = self.archive.ticket()
        until(lambda: self.archive.is_saved(ticket))

    @rule(orderly=st.booleans())
    def restart(self, orderly: bool) -> None:
        self._stop(orderly)
        self.open()

    def _stop(self, orderly: bool) -> None:
        if orderly:
            self.scheduler.close()
        else:
            with self.archive._waiting:  # what was not written by now never is
                self.archive._rows.clear()
                self.archive._work.clear()
        self.archive.close()

    def teardown(self) -> None:
        if not hasattr(self, "folder"):
            return
        try:
            self._settle()
            self._check_jobs()
            self._stop(orderly=True)
            self.open()
            self._check_ended()
            self._stop(orderly=True)
            self._check_logs()
        finally:
            self.quick.stop()
            shutil.rmtree(self.folder, ignore_errors=True)

    def _settle(self) -> None:
        """Nothing is lost any more: in the end the scheduler has everything."""
        for _ in range(6):
            self.beat("arrives")
            self.everything_is_written()
        assert all(sender.saved == sender.ended for sender in self.jobs.values())

    def _check_jobs(self) -> None:
        assert self.scheduler.jobs(JobQuery()).total == len(self.jobs)
        self.scheduler.recorder.flush()
        living = self.scheduler.recorder.state.jobs
        assert set(living) == {f"{APP}-{job_id}" for job_id, sender in self.jobs.items() if not sender.ended}
        for job_id, sender in self.jobs.items():
            detail = self.scheduler.job(f"{APP}-{job_id}")
            assert [point.loss for point in detail.losses] == sender.losses
            assert detail.job.reports == len(sender.losses)
            if not sender.ended:
                assert list(living[detail.job.id].history.losses) == sender.losses
        assert self.scheduler.counters().missed_reports == self.scheduler.counters().rejected_events == 0

    def _check_ended(self) -> None:
        ended = {view.id: view.state for view in self.scheduler.jobs(JobQuery()).jobs}
        assert ended == {f"{APP}-{job_id}": "finished" for job_id, sender in self.jobs.items() if sender.ended}

    def _check_logs(self) -> None:
        for file in self.folder.glob("decisions-*.log"):
            for epoch, _, effects in replay(file):
                # As bytes: the history of a job without a loss holds NaN, which equals nothing.
                assert msgspec.msgpack.encode(epoch.effects) == msgspec.msgpack.encode(effects)


TestInterleavings = Interleavings.TestCase
TestInterleavings.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
