"""What a terminal shows: names that cannot harm it, numbers a person can read."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from slaq.cli._output import echo_json
from slaq.cli._tables import shown
from slaq.cli._text import bar, cores, counts, duration, instant, number, plain


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("als-sweep-7", "als-sweep-7"),
        ("größer 模型", "größer 模型"),
        ("\x1b[2J\x1b[31mred", "\\x1b[2J\\x1b[31mred"),
        ("two\nlines\r\t", "two\\nlines\\r\\t"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\x9b31m", "\\x9b31m"),
        ("\ud800", "\\ud800"),
    ],
)
def test_invisible_characters_are_written_out(name, seen):
    assert plain(name) == seen


def test_markup_in_a_name_is_text():
    output = io.StringIO()
    Console(file=output, width=80, force_terminal=True, color_system="truecolor").print(shown("[red]x[/red] [link=a]"))
    assert output.getvalue() == "[red]x[/red] [link=a]\n"


@given(st.text())
def test_no_name_reaches_the_terminal_with_a_control_character(name):
    assert plain(name).isprintable() or any(c.isspace() for c in plain(name))
    assert not set(plain(name)) & {"\x1b", "\n", "\r", "\x07", "\x9b", "\u202e"}


def test_numbers():
    assert [number(None), number(float("nan")), number(0.123456), number(123456.0)] == ["-", "-", "0.1235", "1.235e+05"]
    assert [cores(None), cores(float("inf")), cores(2.0), cores(0.333)] == ["∞", "∞", "2", "0.33"]
    assert [duration(s) for s in (0, 9.94, 59, 61, 3600, 90000)] == ["0.0s", "9.9s", "59s", "1m01s", "1h00m", "1d01h"]
    assert [duration(None), duration(-1), instant(None)] == ["-", "-1.0s", "-"]


def test_bars():
    assert bar(0.5, 4) == "██  "
    assert bar(0.03125, 4) == "▏   "
    assert bar(7.0, 4) == "████"
    assert bar(None, 4) == bar(float("nan"), 4) == bar(-1.0, 4) == "    "


def test_counts_by_state_leave_out_what_is_not_there():
    assert counts({"finished": 2, "running": 1, "held": 0}, ("running", "held", "idle")) == "1 running"
    assert counts({"running": 1, "finished": 2}) == "1 running, 2 finished"
    assert counts({}) == counts({"held": 0}) == "none"


@pytest.mark.parametrize("at", [1e300, -1e300, float("inf"), 2**63])
def test_an_instant_beyond_the_calendar_is_a_dash(at):
    assert instant(at) == "-"


def test_json_in_a_terminal_escapes_what_moves_a_cursor_and_says_the_same(capsys):
    value = {"\x9b31m": ["\u202e", "\x1b[2J", "caf\u00e9 \U0001f600", "\U000e0001", "a\nb"]}
    echo_json(value)
    said = capsys.readouterr().out
    assert all(line.isprintable() for line in said.splitlines())
    assert "caf\u00e9 \U0001f600" in said
    assert json.loads(said) == value
