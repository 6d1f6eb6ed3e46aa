"""Losses on their way to a tracker: batches by run, one request at a time, and a tracker that fails or hangs."""

import itertools
import threading
import time

import pytest

from slaq.driver.notices import counts
from slaq.driver.tracking import BATCH, TAGS, CurveNames, RunLogger
from slaq.spark.records import Begin, End, Loss


class Tracker:
    """Keeps what it is sent."""

    def __init__(self):
        self.requests = []
        self.failures = 0

    def send(self, run, losses):
        if self.failures:
            self.failures -= 1
            raise ConnectionError("refused")
        self.requests.append((time.monotonic(), run, list(losses)))

    def curves(self):
        found = {}
        for _, run, losses in self.requests:
            for each in losses:
                found.setdefault((run, each.curve), []).append((each.step, each.value))
        return found


def by_run(begin):
    return (begin.run, begin.estimator) if begin.run else None


def fit(job, run, losses, estimator="KMeans", **params):
    yield Begin(0, job, estimator, run=run, params=params, begin_ms=1000)
    for step, value in enumerate(losses):
        yield Loss(0, job, step, value, nanos=step * 1_000_000)
    yield End(0, job)


def feed(logger, *fits):
    for events in fits:
        for event in events:
            logger.happened(event)


def test_curves_go_to_their_runs_and_names_come_again_in_other_runs():
    tracker = Tracker()
    logger = RunLogger(tracker.send, CurveNames(), by_run, every_s=0.01)
    feed(logger, fit("a", "r1", [3.0, 2.0]), fit("b", "r2", [5.0]), fit("c", "r1", [4.0]), fit("d", "", [9.0]))
    logger.close()
    assert tracker.curves() == {
        ("r1", "KMeans"): [(0, 3.0), (1, 2.0)],
        ("r2", "KMeans"): [(0, 5.0)],
        ("r1", "KMeans-2"): [(0, 4.0)],
    }
    assert logger.dropped == 0


def test_parameters_come_once_and_the_time_is_that_of_the_iteration():
    tracker = Tracker()
    logger = RunLogger(tracker.send, CurveNames(), by_run, every_s=0.01)
    feed(logger, fit("a", "r", [3.0, 2.0], k=4))
    logger.close()
    losses = [each for _, _, batch in tracker.requests for each in batch]
    assert [each.params for each in losses] == ['{"k": 4}', ""]
    assert [each.at_ms for each in losses] == [1000, 1001]


def test_fits_without_losses_and_losses_that_are_nan_leave_no_trace():
    tracker = Tracker()
    logger = RunLogger(tracker.send, CurveNames(), by_run, every_s=0.01)
    feed(logger, fit("a", "r", []), fit("b", "r", [None]), fit("c", "r", [1.0]))
    logger.close()
    assert tracker.curves() == {("r", "KMeans"): [(0, 1.0)]}


def test_names_hold_nothing_that_a_tracker_refuses():
    assert CurveNames().name("r", "org.<b>/Ä" + "x" * 300) == ("org._b___" + "x" * 300)[:200]


def test_requests_keep_their_distance_and_their_size():
    tracker = Tracker()
    logger = RunLogger(tracker.send, CurveNames(), by_run, every_s=0.1)
    feed(logger, fit("a", "r", [0.0] * (2 * BATCH)), *(fit(f"f{n}", "s", [1.0]) for n in range(TAGS + 1)))
    logger.close()
    times = [at for at, _, _ in tracker.requests]
    assert min(after - before for before, after in itertools.pairwise(times)) >= 0.095
    assert max(len(losses) for _, _, losses in tracker.requests) <= BATCH
    assert max(sum(bool(each.params) for each in losses) for _, _, losses in tracker.requests) <= TAGS
    assert sum(len(losses) for _, _, losses in tracker.requests) == 2 * BATCH + TAGS + 1


def test_a_request_that_fails_is_repeated_and_told_once():
    tracker = Tracker()
    tracker.failures = 2
    logger = RunLogger(tracker.send, CurveNames(), by_run, every_s=0.01)
    feed(logger, fit("a", "r", [3.0, 2.0]))
    wait_for(lambda: tracker.requests)
    logger.close()
    assert tracker.curves() == {("r", "KMeans"): [(0, 3.0), (1, 2.0)]}
    assert sum(counts().values()) == 2


def test_a_tracker_that_is_down_costs_its_losses_and_no_time():
    tracker = Tracker()
    tracker.failures = 10**6
    logger = RunLogger(tracker.send, CurveNames(), by_run, every_s=0.01)
    feed(logger, fit("a", "r", [3.0, 2.0]))
    wait_for(lambda: logger.dropped)
    began = time.monotonic()
    feed(logger, fit("b", "r", [1.0]))
    logger.close()
    assert time.monotonic() - began < 1.0
    assert any("dropped" in place for place in counts())


def test_a_tracker_that_hangs_holds_up_neither_losses_nor_the_end(monkeypatch):
    monkeypatch.setattr("slaq.driver.tracking.SLOW_S", 0.2)
    hanging = threading.Event()
    logger = RunLogger(lambda _run, _losses: hanging.wait(30.0), CurveNames(), by_run, every_s=0.01, most=50)
    began = time.monotonic()
    feed(logger, fit("a", "r", [1.0] * 500))
    assert time.monotonic() - began < 0.5
    logger.close()
    assert time.monotonic() - began < 2.0
    assert logger.dropped >= 400
    hanging.set()


def test_without_runs_there_is_no_thread():
    logger = RunLogger(pytest.fail, CurveNames(), by_run)
    feed(logger, fit("a", "", [1.0]))
    logger.close()
    assert logger._thread is None


def wait_for(condition):
    give_up = time.monotonic() + 10.0
    while not condition():
        assert time.monotonic() < give_up
        time.sleep(0.005)
