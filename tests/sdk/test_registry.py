"""The jobs of a process: one host for all threads, one id for each job."""

import threading
import time

import pytest

from slaq.driver import notices
from slaq.driver.early import EarlyRule
from slaq.sdk import registry
from slaq.sdk.registry import Registry
from slaq.sdk.reported import UNREAD_KEPT, Declared
from slaq.spark.records import Begin, End, Loss


class Host:
    early = EarlyRule()

    def alive(self):
        return True

    def enter(self, _):
        return None

    def ended(self):
        pass


def test_first_jobs_in_several_threads_find_one_host(monkeypatch):
    found = []

    def find():
        time.sleep(0.05)
        found.append(Host())
        return found[-1]

    monkeypatch.setattr(registry, "_beside_the_jvm", find)
    jobs = Registry()
    threads = [threading.Thread(target=jobs.begin, args=(Declared(f"t{number}"),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 1
    assert {job.host for job in jobs.jobs()} == set(found)


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["lr-0", "lr-0", "lr-0.2"], ["lr-0", "lr-0.2", "lr-0.2.2"]),
        (["lr-0.2", "lr-0", "lr-0", "lr-0"], ["lr-0.2", "lr-0", "lr-0.3", "lr-0.4"]),
        (["default.1", "default", "default"], ["default.1", "default.2", "default.3"]),
    ],
)
def test_no_two_jobs_share_an_id(names, ids):
    jobs = Registry()
    assert [jobs.begin(Declared(name)).id for name in names] == ids


def reported(jobs, name, *losses):
    job = jobs.begin(Declared(name))
    for loss in losses:
        job.add(loss, None, {})
    return job


class TestReading:
    def test_what_is_not_acknowledged_comes_again_under_the_same_numbers(self):
        jobs = Registry()
        job = reported(jobs, "a", 3.0, 2.0)
        first = jobs.read()
        assert [type(event) for event in first] == [Begin, Loss, Loss]
        job.add(1.0, None, {})
        assert jobs.read()[: len(first)] == first
        jobs.acknowledge(first[1].seq)
        assert [event.value for event in jobs.read()] == [2.0, 1.0]

    def test_numbers_rise_over_all_jobs(self):
        jobs = Registry()
        one, _ = reported(jobs, "a", 3.0), reported(jobs, "b", 2.0)
        jobs.end(one)
        seen = [event.seq for event in jobs.read()]
        assert seen == sorted(set(seen))

    def test_the_end_comes_once_and_after_every_report(self):
        jobs = Registry()
        job = reported(jobs, "a", 3.0)
        jobs.end(job)
        events = jobs.take()
        assert [type(event) for event in events] == [Begin, Loss, End]
        assert jobs.take() == []

    def test_another_host_is_told_how_the_job_began(self):
        jobs = Registry()
        job = reported(jobs, "a", 3.0)
        jobs.take()
        jobs.move(job, Host())
        job.add(2.0, None, {})
        assert [type(event) for event in jobs.take()] == [Begin, Loss]

    def test_reports_that_nobody_reads_are_dropped_oldest_first_counted_and_told_once(self, caplog):
        jobs = Registry()
        reported(jobs, "a", *(float(k) for k in range(UNREAD_KEPT + 3)))
        events = jobs.read()
        assert len(events) == 1 + UNREAD_KEPT
        assert events[1].value == 3.0
        assert caplog.text.count("3 reports of job a were dropped unread") == 1
        assert notices.counts()["dropped a"] == 1

    def test_memory_stays_bounded_while_nothing_is_acknowledged(self):
        jobs = Registry()
        job = reported(jobs, "a")
        for _ in range(20):
            for k in range(2_000):
                job.add(float(k), None, {})
            jobs.read()
        assert len(jobs.read()) < 20_000
