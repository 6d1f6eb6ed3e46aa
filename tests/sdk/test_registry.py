"""The jobs of a process: one host for all threads, one id for each job."""

import threading
import time

import pytest

from slaq.sdk import registry
from slaq.driver.early import EarlyRule
from slaq.sdk.registry import Registry


class Host:
    early = EarlyRule()

    def alive(self):
        return True

    def enter(self, _):
        return None


def test_first_jobs_in_several_threads_find_one_host(monkeypatch):
    found = []

    def find():
        time.sleep(0.05)
        found.append(Host())
        return found[-1]

    monkeypatch.setattr(registry, "_beside_the_jvm", find)
    jobs = Registry()
    threads = [threading.Thread(target=jobs.begin, args=(f"t{number}", True)) for number in range(8)]
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
    assert [jobs.begin(name, False).id for name in names] == ids
