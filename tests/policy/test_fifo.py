"""fifo: who came first takes all they can use."""

from slaq.model import Job, Snapshot
from slaq.predict import look_ahead
from tests.strategies import decided


def test_above_the_floor_the_first_job_takes_what_it_can_use_then_the_second():
    members = (Job("first", max_cores=5), Job("second"), Job("third"))
    decision = decided("fifo", Snapshot(members, 12, look_ahead(members, 1.0)))
    assert decision.cores == {"first": 5.0, "second": 6.0, "third": 1.0}
    assert str(decision.reasons["first"]) == "5 cores: all it can use"
    assert str(decision.reasons["second"]) == "6 cores: shared out in order of arrival"
