"""Packing: ragged histories of any kind become one matrix, newest loss first, and nothing unusable gets in."""

import numpy as np
import pytest

from slaq.errors import SlaqError
from slaq.predict.series import TAIL, WINDOW, pack


def test_the_newest_loss_comes_first_and_the_first_one_fills_up_the_past():
    series = pack([[5.0, 3.0, 2.0], (1.0,)])
    assert series.losses.shape == (WINDOW, 2)
    assert series.losses[:5, 0].tolist() == [2.0, 3.0, 5.0, 5.0, 5.0]
    assert series.losses[:2, 1].tolist() == [1.0, 1.0]
    assert series.points.tolist() == [3.0, 1.0]


def test_lists_tuples_and_arrays_of_any_number_type_are_the_same():
    same = [[3, 2, 1], (3.0, 2.0, 1.0), np.array([3, 2, 1]), np.array([3, 2, 1], dtype=np.float32)]
    losses = pack(same).losses
    assert (losses == losses[:, :1]).all()


def test_a_view_with_gaps_in_memory_is_read_correctly():
    backwards = np.arange(6.0)[::-2]
    assert pack([backwards]).losses[:3, 0].tolist() == [1.0, 3.0, 5.0]


@pytest.mark.parametrize("unusable", [np.nan, np.inf, -np.inf, 1e308, -1e301])
def test_unusable_losses_are_left_out_and_not_counted(unusable):
    series = pack([[4.0, unusable, 3.0, unusable], [9.0, 8.0]])
    assert series.losses[:3, 0].tolist() == [3.0, 4.0, 4.0]
    assert series.losses[:2, 1].tolist() == [8.0, 9.0]
    assert series.points.tolist() == [2.0, 2.0]


@pytest.mark.parametrize("history", [[], (), np.array([]), [np.nan, np.inf]])
def test_a_history_without_a_usable_loss_has_no_points(history):
    series = pack([history, [2.0, 1.0]])
    assert series.points.tolist() == [0.0, 2.0]
    assert np.isnan(series.losses[:, 0]).all()
    assert series.losses[0, 1] == 1.0


def test_no_history_at_all_is_an_empty_matrix():
    assert pack([]).jobs == 0
    assert pack([[]]).jobs == 1


def test_of_a_long_history_only_the_end_is_read_but_all_losses_are_counted():
    series = pack([list(range(1000, 0, -1))])
    assert series.losses[:, 0].tolist() == [float(i + 1) for i in range(WINDOW)]
    assert series.points.tolist() == [1000.0]


def test_unusable_losses_in_a_long_history_make_room_for_older_ones():
    history = [float(i) for i in range(200, 0, -1)]
    history[-3] = np.nan
    series = pack([history])
    assert series.losses[:4, 0].tolist() == [1.0, 2.0, 4.0, 5.0]
    assert series.points.tolist() == [199.0]


def test_beyond_a_tail_of_unusable_losses_nothing_is_known():
    series = pack([[3.0] * 100 + [np.nan] * TAIL, [3.0] * 100 + [np.inf] * (TAIL - 2) + [2.0, 1.0]])
    assert series.points.tolist() == [0.0, 2.0]


@pytest.mark.parametrize(
    "history", [["1", "2"], "123", [None], [[1.0]], [1 + 2j], 5, None, np.ones((2, 2)), np.array(["a"]), [10**400]]
)
def test_what_is_no_sequence_of_numbers_is_refused_by_its_place_and_a_remedy(history):
    with pytest.raises(SlaqError, match=r"History 1 .*give one number per iteration"):
        pack([[1.0], history])
