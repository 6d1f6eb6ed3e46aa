"""`slaq.stop` on loops of one's own: they learn it from `should_stop`, and end as stopped."""

import pytest

import slaq
from slaq.errors import SlaqError
from slaq.sdk.registry import REGISTRY
from slaq.spark.records import End


def state(job_id):
    return next(job.state for job in slaq.jobs() if job.id == job_id)


def test_a_loop_is_told_after_its_first_loss_and_ends_as_stopped():
    with slaq.job("mine") as job:
        assert slaq.stop("mine") == "mine stops after the iteration under way"
        assert not slaq.should_stop()
        slaq.report(1.0)
        assert slaq.should_stop()
        assert slaq.stop(job) == "mine was asked to stop already"
    assert state("mine") == "stopped"
    (end,) = [event for event in REGISTRY.take() if isinstance(event, End)]
    assert (end.ok, end.stopped) == (True, True)
    with pytest.raises(SlaqError, match=r"'mine' is over \(stopped\); only running jobs"):
        slaq.stop("mine")


def test_a_loop_is_told_after_so_many_iterations():
    with slaq.job("mine"):
        assert slaq.stop("mine", after_iterations=2) == "mine stops after 2 iterations"
        slaq.report(2.0)
        assert not slaq.should_stop()
        slaq.report(1.0)
        assert slaq.should_stop()


def test_a_loop_that_never_asks_ends_as_it_would_have():
    with slaq.job("deaf"):
        slaq.report(1.0)
        slaq.stop("deaf")
    assert state("deaf") == "ended"


def test_a_loop_that_fails_has_failed_although_it_was_told_to_stop():
    def train():
        with slaq.job("mine"):
            slaq.report(1.0)
            slaq.stop("mine")
            assert slaq.should_stop()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train()
    assert state("mine") == "failed"


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        ("nobody", "no job 'nobody' runs in this application"),
        (7, "7 names no job; give an id or a name"),
        (None, "None names no job"),
    ],
)
def test_a_job_that_is_not_there(job, sentence):
    with pytest.raises(SlaqError, match=sentence):
        slaq.stop(job)


@pytest.mark.parametrize("iterations", [-1, 2**31, 1.5, "3", True])
def test_a_number_that_makes_no_sense(iterations):
    with pytest.raises(SlaqError, match=r"after_iterations is .*; give a whole number"), slaq.job("mine"):
        slaq.stop("mine", after_iterations=iterations)
