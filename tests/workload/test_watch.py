"""What the watch makes of the probe's events."""

from types import SimpleNamespace

from slaq.workload.watch import Watch, watch_attachment

BEGIN = {"event": "begin", "seq": 1, "job": "fit-1", "uid": "KMeans_1", "beginMillis": 1_000_500}
LOSS = {"event": "loss", "seq": 2, "job": "fit-1", "nanos": 250_000_000, "value": 4.0}
NAN_LOSS = {"event": "loss", "seq": 3, "job": "fit-1", "nanos": 300_000_000, "value": None}
END = {"event": "end", "seq": 4, "job": "fit-1", "nanos": 500_000_000}


def watching() -> Watch:
    watch = Watch(began=1000.0)
    watch.expect("a", "KMeans_1")
    return watch


def test_losses_are_found_by_the_job_that_expects_the_estimator() -> None:
    watch = watching()
    watch.events([BEGIN, LOSS, NAN_LOSS, END])
    assert watch.curve("a") == [(0.75, 4.0)]
    assert [fit.ended_s for fit in watch.fits()] == [1.0]
    assert watch.curve("b") == []


def test_events_that_are_read_again_count_once() -> None:
    watch = watching()
    watch.events([BEGIN, LOSS])
    watch.events([BEGIN, LOSS, NAN_LOSS, END])
    assert watch.curve("a") == [(0.75, 4.0)]


def test_the_driver_loop_s_polls_are_passed_on_unchanged() -> None:
    polls = []

    def poll(acked: int = 0) -> SimpleNamespace:
        polls.append(acked)
        return SimpleNamespace(events=[BEGIN, LOSS], jobs=[])

    bridge = SimpleNamespace(poll=poll)
    watch = watching()
    watch_attachment(SimpleNamespace(loop=SimpleNamespace(bridge=bridge)), watch)
    assert bridge.poll(acked=7).events == [BEGIN, LOSS]
    assert polls == [7]
    assert watch.curve("a") == [(0.75, 4.0)]
