"""When decisions are due."""

from slaq.scheduler.pace import Pace


def test_decisions_are_an_epoch_apart_however_long_each_took():
    pace = Pace(1.0, 10.0)
    assert pace.decided(10.3) == (11.0, 0)
    assert pace.decided(11.99) == (12.0, 0)


def test_epochs_that_were_slept_through_are_skipped_not_made_up_for():
    pace = Pace(0.1, 10.0)
    due, skipped = pace.decided(15.05)
    assert skipped == 50
    assert 15.05 < due < 15.15


def test_another_length_takes_effect_at_once():
    pace = Pace(60.0, 70.0)
    pace.change(1.0, 20.0)
    assert pace.due_s == 21.0
    assert pace.decided(21.0) == (22.0, 0)
