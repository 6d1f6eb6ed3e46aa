"""What a job takes to get ready is not what its first iterations took."""

from slaq.engine import JobJoined, JobReported, State, run
from slaq.model import Job, Report


def ready_core_s(*reports: Report, held_core_s: float) -> float | None:
    events = [JobJoined(0.0, Job("a")), JobReported(1.0, "a", reports, held_core_s)]
    state, _ = run(State(cores=4), events)
    return state.jobs["a"].ready_core_s


def test_iterations_that_come_with_the_first_report_are_no_preparation():
    assert ready_core_s(Report(3.0, 0), Report(2.0, 1, 4.0), Report(1.0, 2, 4.0), held_core_s=10.0) == 2.0


def test_without_iterations_all_that_was_held_is_preparation():
    assert ready_core_s(Report(3.0, 0), held_core_s=10.0) == 10.0


def test_iterations_that_tell_more_than_was_held_leave_no_preparation():
    assert ready_core_s(Report(3.0, 0, 12.0), held_core_s=10.0) == 0.0
