"""The benchmark of `slaq.report` measures both calls and prints them."""

import json

from click.testing import CliRunner

from slaq.bench import report


def test_it_prints_a_report_beside_an_empty_call(monkeypatch):
    monkeypatch.setattr(report, "ROUNDS", 3)
    monkeypatch.setattr(report, "CALLS", 200)
    done = CliRunner().invoke(report.command, ["--format", "json"])
    rows = json.loads(done.output)["rows"]
    assert [row["call"] for row in rows] == ["loss", "loss, iteration", "loss, two metrics"]
    assert all(0.0 < row["empty CPU µs"] < row["report CPU µs"] for row in rows)
