"""`slaq simulate --stream` on a recorded stream."""

import json

import pytest
from click.testing import CliRunner

from slaq.cli.simulate import command
from slaq.errors import SlaqError
from tests.workload.test_replay import RECORDED


def test_policies_and_rules_stand_side_by_side() -> None:
    options = ["--policies", "spark-fair,finish-line,ideal", "--rule", "order,tokens:0.5", "--processes", "1"]
    answer = CliRunner().invoke(command, ["--stream", str(RECORDED), *options, "--format", "json"])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.output)["policies"]
    assert [(row["policy"], row["rule"]) for row in rows] == [
        ("spark-fair", ""),
        ("finish-line", "order"),
        ("finish-line", "tokens:0.5"),
        ("ideal", ""),
    ]
    assert rows[0]["t90_s_ratio"] == 1.0
    assert rows[-1]["t90_s_ratio"] < 1.0


def test_the_table_names_the_tuning() -> None:
    options = ["--policies", "finish-line", "--set", "worth_end=1", "--shakes", "2", "--processes", "1"]
    answer = CliRunner().invoke(command, ["--stream", str(RECORDED), *options])
    assert answer.exit_code == 0, answer.output
    assert "finish-line tokens worth_end=1" in " ".join(answer.output.split())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--policies", "magic"], "unknown policy 'magic'"),
        (["--rule", "magic"], "unknown rule 'magic'"),
        (["--rule", "magic:1"], "unknown rule 'magic:1'"),
        (["--rule", "tokens:x"], "'x' is no number of seconds"),
    ],
)
def test_names_that_make_no_sense_are_refused(options: list[str], complaint: str) -> None:
    answer = CliRunner().invoke(command, ["--stream", str(RECORDED), *options])
    assert isinstance(answer.exception, SlaqError)
    assert complaint in str(answer.exception)
