"""The arithmetic of the overhead benchmark; the measurement itself needs a quiet machine and is run by hand."""

import pytest

from slaq.bench._drivers import answer, driver, tell
from slaq.bench._overhead import BRIDGE, PLAIN
from slaq.bench.overhead import alternate, row
from slaq.errors import SlaqError

STEADY = "tests.bench.steady_driver"


def test_every_round_pairs_a_run_with_the_bridge_and_a_plain_one() -> None:
    with driver(STEADY, "1.5") as bridge, driver(STEADY, "1.0") as plain:
        assert alternate({BRIDGE: bridge, PLAIN: plain}, "stages", rounds=3) == [(1.5, 1.0)] * 3


def test_a_line_of_the_table_shows_the_median_of_each_arm() -> None:
    line = row("stages", [(2.0, 1.0), (3.0, 9.0), (4.0, 2.0)], ratio=2.0, bar="<= 1.02")
    assert (line["bridge s"], line["plain s"], line["ratio"]) == (3.0, 2.0, 2.0)


def test_a_driver_that_ends_too_soon_is_named() -> None:
    with driver(STEADY, "1.0") as process:
        tell(process, "stages")
        assert process.stdin is not None
        process.stdin.close()
        with pytest.raises(SlaqError, match="before it said 'ready'"):
            answer(process, until="ready")
        process.stdin = None
