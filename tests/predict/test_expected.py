"""How far past fits count beside what a job has shown itself, and what the tasks left in its stages add."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.model import Expected, History, Job, Report
from slaq.predict import look_ahead
from slaq.predict.expected import between

SURE = Expected(
    ready_core_s=6.0, ready_sure=1.0, work_core_s=0.5, serial_s=0.2, work_sure=1.0,
    at_90=12.0, at_95=20.0, at_end=40.0, length_sure=1.0,
)  # fmt: skip


def job(losses=0, work_core_s=2.0, expected=SURE, **more) -> Job:
    history = History()
    for k in range(losses):
        history = history.add(Report(0.7**k, k, work_core_s if k else None, 0.0))
    return Job("job", history=history, expected=expected.packed(), max_iterations=40, **more)


def test_before_its_first_loss_a_job_is_taken_for_what_fits_like_it_were():
    outlook = look_ahead((job(attained_core_s=2.0),), 1.0)
    assert outlook.preparation_core_s == pytest.approx([4.0])
    assert outlook.runtime.work_core_s == pytest.approx([0.5])
    assert outlook.runtime.serial_s == pytest.approx([0.2])
    assert [outlook.until(share)[0] for share in (0.9, 0.95, 1.0)] == [12.0, 20.0, 40.0]


def test_its_own_iterations_count_more_and_more_and_after_three_alone():
    work = [float(look_ahead((job(losses),), 1.0).runtime.work_core_s[0]) for losses in (1, 2, 3, 4, 5)]
    assert work == sorted(work)
    assert work[0] == pytest.approx(0.5)
    assert work[3:] == pytest.approx([2.0, 2.0])


def test_its_own_losses_count_more_and_more():
    def drawn(losses: int) -> float:
        told = look_ahead((job(losses),), 1.0).until(1.0)[0]
        alone = look_ahead((job(losses, expected=Expected()),), 1.0).until(1.0)[0]
        nearer = look_ahead((job(losses, expected=Expected(at_end=losses + 1.0, length_sure=1.0)),), 1.0).until(1.0)[0]
        assert nearer <= min(told, alone)
        return float(nearer / alone)

    assert drawn(2) < drawn(6) < drawn(12)


def test_what_is_not_sure_changes_nothing():
    unsure = Expected(ready_core_s=1e6, work_core_s=1e6, serial_s=1e6, at_90=1e6, at_95=1e6, at_end=1e6)
    for losses in (0, 1, 5):
        one, other = (look_ahead((job(losses, expected=each),), 1.0) for each in (unsure, Expected()))
        np.testing.assert_array_equal(one.work_until(0.9), other.work_until(0.9))
        np.testing.assert_array_equal(one.runtime.serial_s, other.runtime.serial_s)


def test_a_preparation_that_takes_longer_than_it_surely_did_is_about_to_end():
    sure, unsure = (
        look_ahead((job(attained_core_s=9.0, expected=each),), 1.0).preparation_core_s[0] for each in (SURE, Expected())
    )
    assert sure == 0.0
    assert unsure == pytest.approx(4.5)


def test_the_tasks_left_in_a_stage_are_ahead_in_any_case():
    preparing = look_ahead((job(attained_core_s=5.0, due_core_s=3.0),), 1.0)
    assert preparing.preparation_core_s == pytest.approx([3.0])
    training = [
        look_ahead((job(8, reported_core_s=10.0, attained_core_s=11.5, due_core_s=due),), 1.0) for due in (0, 5)
    ]
    usual, longer = (float(each.work_until(1.0)[0]) for each in training)
    assert usual == pytest.approx(2.0 * training[0].until(1.0)[0] - 1.5)
    assert longer == pytest.approx(usual - 0.5 + 5.0)


numbers = st.just(0.0) | st.floats(1e-9, 1e6)


@given(numbers, numbers, st.floats(0, 1))
def test_between_two_numbers_lies_a_number_between_them(one, other, share):
    found = float(between(np.array([one]), np.array([other]), np.array([share]))[0])
    assert min(one, other) * (1 - 1e-9) <= found <= max(one, other) * (1 + 1e-9)
    if share == 0.0:
        assert found == one
