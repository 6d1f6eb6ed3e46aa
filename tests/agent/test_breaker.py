"""How long an agent waits before it asks again."""

import random

import pytest

from slaq.agent.breaker import FIRST_DELAY_S, LONGEST_DELAY_S, REFUSED_DELAY_S, Breaker


class Longest(random.Random):
    def uniform(self, _a: float, b: float) -> float:
        return b


@pytest.fixture
def breaker():
    return Breaker(Longest())


def test_the_delay_doubles_up_to_about_an_epoch(breaker):
    assert [breaker.failed() for _ in range(4)] == [FIRST_DELAY_S, 2 * FIRST_DELAY_S, LONGEST_DELAY_S, LONGEST_DELAY_S]


def test_a_scheduler_that_keeps_refusing_is_asked_ever_more_rarely(breaker):
    delays = [breaker.failed(refused=True) for _ in range(12)]
    assert delays[:3] == [FIRST_DELAY_S, 2 * FIRST_DELAY_S, 4 * FIRST_DELAY_S]
    assert delays[-1] == REFUSED_DELAY_S


def test_one_refusal_after_a_long_silence_is_the_first_one(breaker):
    for _ in range(10):
        breaker.failed()
    assert breaker.failed(refused=True) == FIRST_DELAY_S
    assert breaker.failed() == FIRST_DELAY_S


def test_a_success_begins_anew(breaker):
    for _ in range(5):
        breaker.failed(refused=True)
    breaker.succeeded()
    assert breaker.failures == 0
    assert breaker.failed(refused=True) == FIRST_DELAY_S
