"""A second scheduler stands by: it takes over when the first is gone, and no report is lost or counted twice."""

import pytest

from slaq.agent import Failover, UnreachableError
from slaq.protocol import PROTOCOL, Answer, Beat
from tests.scheduler.random_kills import LEASE_S, SLACK_S, kill_at_random


def test_jobs_survive_random_kills_of_their_scheduler(tmp_path):
    seen = kill_at_random(tmp_path, kills=5, seed=7)
    assert seen.wrong == [], "each report once, in order"
    assert seen.jobs >= 12
    assert seen.dropped == 0
    assert len(seen.without_s) == 5
    assert max(seen.without_s) < LEASE_S + SLACK_S, "without valid grants, and not yet unthrottled"


class Scripted:
    def __init__(self, *outcomes):
        self.outcomes, self.asked, self.aborted = list(outcomes), 0, 0

    def exchange(self, _):
        self.asked += 1
        outcome = self.outcomes.pop(0) if self.outcomes else UnreachableError("gone")
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    def abort(self):
        self.aborted += 1


BEAT = Beat(PROTOCOL, "app0001", 1)
ANSWER = Answer(PROTOCOL, 1, 1, 5.0, 1.0)


def test_whoever_answered_last_is_asked_first():
    first, second = Scripted(), Scripted(ANSWER, ANSWER)
    both = Failover([first, second])
    assert both.exchange(BEAT) is ANSWER
    assert both.exchange(BEAT) is ANSWER
    both.abort()
    assert (first.asked, second.asked, first.aborted, second.aborted) == (1, 2, 0, 1)


def test_if_nobody_answers_every_reason_is_told():
    both = Failover([Scripted(UnreachableError("no route")), Scripted(UnreachableError("too slow"))])
    with pytest.raises(UnreachableError, match="no route; too slow"):
        both.exchange(BEAT)
