"""Early answers: off by default, exactly defined, told or stopped."""

import pytest

import slaq
from slaq.driver.early import EarlyRule, verdict
from slaq.errors import SlaqError
from slaq.predict import standing
from slaq.records import Standing

RULE = EarlyRule("stop", share=0.95, patience=3, tolerance=0.01)
FALLING = [1.0 + 0.5**k for k in range(30)]


def first_good(losses, rule, target=None):
    """The number of losses after which the rule first holds."""
    return next((n for n in range(1, len(losses) + 1) if verdict(losses[:n], rule, target)), None)


def test_off_never_judges():
    assert first_good(FALLING, EarlyRule()) is None


def test_a_converging_curve_becomes_good_enough():
    when = first_good(FALLING, RULE)
    assert when is not None
    gains = [FALLING[k] - FALLING[k + 1] for k in range(when - RULE.patience - 1, when - 1)]
    so_far = FALLING[0] - FALLING[when - 1]
    assert all(gain < RULE.tolerance * so_far for gain in gains)
    assert all(standing(FALLING[: when - back]).reached >= RULE.share for back in range(RULE.patience))


@pytest.mark.parametrize(
    "stricter",
    [
        EarlyRule("stop", share=0.9999, patience=3, tolerance=0.01),
        EarlyRule("stop", share=0.95, patience=8, tolerance=0.01),
        EarlyRule("stop", share=0.95, patience=3, tolerance=0.0001),
    ],
)
def test_every_number_of_the_rule_makes_it_stricter(stricter):
    assert (first_good(FALLING, stricter) or 99) > first_good(FALLING, RULE)


@pytest.mark.parametrize(
    "losses",
    [
        [1.0] * 30,  # never moved: nothing was reached
        [1.0 + k for k in range(30)],
        [10.0 - k for k in range(30)],  # still falling as fast as ever
    ],
)
def test_a_curve_that_never_fell_or_still_falls_is_never_good_enough(losses):
    assert first_good(losses, RULE) is None


def test_what_the_scheduler_says_of_a_job_counts():
    when = first_good(FALLING, RULE)
    assert verdict(FALLING[:when], RULE, known=Standing(0.5, 3.0, 6.0, 40.0)) is None
    assert verdict(FALLING[:when], RULE, known=Standing(0.99, 0.0, 0.0, 40.0)) is not None


def test_reaching_the_target_is_good_enough_at_once():
    assert first_good([5.0, 4.0, 2.9, 2.0], EarlyRule("tell"), target=3.0) == 3


class TestInALoop:
    def train(self, early, target_loss=None):
        with slaq.job("loop", early=early, target_loss=target_loss) as job:
            for step in range(100):
                slaq.report(1.0 + 0.5**step)
                if slaq.should_stop():
                    break
        return step, job

    def test_stop_ends_it_and_says_why(self, caplog):
        step, job = self.train(RULE)
        assert step < 20
        assert "of the expected loss reduction reached for 3 iterations" in job.good_enough
        assert caplog.text.count("is good enough at iteration") == 1

    def test_tell_only_says_so(self, caplog):
        step, job = self.train(EarlyRule("tell", share=0.95, patience=3, tolerance=0.01))
        assert step == 99
        assert job.good_enough is not None
        assert caplog.text.count("is good enough at iteration") == 1

    def test_off_says_nothing(self, caplog):
        step, _ = self.train("off", target_loss=1.5)
        assert step == 99
        assert caplog.text == ""

    def test_stop_at_the_target(self):
        step, _ = self.train("stop", target_loss=1.3)
        assert step == 2


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("halt", "early_answer is 'halt'; give one of off, tell, stop"),
        (EarlyRule("stop", share=1.5), "share is 1.5"),
        (EarlyRule("stop", patience=0), "patience is 0"),
        (EarlyRule("stop", tolerance=-1.0), "tolerance is -1.0"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule, message):
    with pytest.raises(SlaqError, match=message), slaq.job("x", early=rule):
        pass
