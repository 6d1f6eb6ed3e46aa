"""Curves in braille."""

from hypothesis import given
from hypothesis import strategies as st

from slaq.cli._plot import LABEL, plot


def dots(lines: list[str]) -> list[str]:
    return [line[LABEL + 2 :] for line in lines[:-2]]


def test_a_falling_line_goes_from_top_left_to_bottom_right():
    lines = plot([(0.0, 3.0), (1.0, 1.0)], width=4, height=2)
    assert dots(lines) == ["⠑⢄⠀⠀", "⠀⠀⠑⢄"]
    assert lines[0].startswith(f"{'3':>{LABEL}} ┤")
    assert lines[1].startswith(f"{'1':>{LABEL}} ┤")
    assert lines[-1].split() == ["0", "1"]


def test_steps_hold_their_value_and_begin_at_zero():
    lines = plot([(0.0, 2.0), (5.0, 2.0), (10.0, 2.0)], width=4, height=2, steps=True)
    assert dots(lines) == ["⠉⠉⠉⠉", "⠀⠀⠀⠀"]
    assert lines[1].startswith(f"{'0':>{LABEL}} ┤")


def test_nothing_to_draw_draws_nothing():
    assert plot([]) == []
    assert plot([(0.0, float("nan")), (1.0, float("inf"))]) == []


@given(
    st.lists(st.tuples(st.floats(0, 1e9), st.floats(-1e300, 1e300)), min_size=1, max_size=50).map(sorted),
    st.booleans(),
)
def test_any_curve_fits_into_its_frame(points, steps):
    lines = plot(points, width=20, height=4, steps=steps)
    assert len(lines) == 6
    assert all(len(line) == LABEL + 2 + 20 for line in lines[:4])
    assert any(dot != "⠀" for line in dots(lines) for dot in line)


def test_what_lies_ahead_goes_on_from_the_curve_in_dots():
    lines = plot([(0.0, 2.0), (10.0, 1.0)], width=20, height=4, ahead=[(10.0, 1.0), (20.0, 0.0)])
    assert lines[-1].split() == ["0", "20"]
    assert lines[3].startswith(f"{'0':>{LABEL}} ┤")
    known = "".join(line[:10] for line in dots(lines))
    ahead = "".join(line[10:] for line in dots(lines))
    assert 0 < bits(ahead) < bits(known) / 2


def bits(drawn: str) -> int:
    return sum((ord(cell) - 0x2800).bit_count() for cell in drawn)


def test_points_of_a_clock_that_went_back_are_drawn_in_order():
    back = plot([(0.0, 1.0), (5.0, 3.0), (2.0, 2.0)], width=20, height=4, steps=True)
    assert back == plot([(0.0, 1.0), (2.0, 2.0), (5.0, 3.0)], width=20, height=4, steps=True)


def test_numbers_whose_difference_is_infinite_are_left_out():
    assert plot([(-1e308, 2.0), (0.0, 1e308), (1.0, 3.0)], width=20) == plot([(1.0, 3.0)], width=20)
