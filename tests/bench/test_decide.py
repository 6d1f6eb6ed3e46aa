"""`slaq bench decide` at a small size: what it prints, not how fast this machine is."""

import json

from click.testing import CliRunner

from slaq.bench.decide import command


def test_it_prints_the_literal_way_and_ours_side_by_side_as_json():
    result = CliRunner().invoke(
        command, ["--jobs", "60", "--cores", "240", "--repeats", "1", "--epochs", "20", "--format", "json"]
    )
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout)
    assert facts["speedup"] == facts["literal_s"] / facts["decision_s"]
    assert facts["ten_times_ratio"] == facts["ten_times_s"] / facts["decision_s"]
    assert facts["weighted_fit_s"] > 0.0
    assert facts["memory"]["epochs"] == 20


def test_it_prints_a_table_for_people():
    result = CliRunner().invoke(command, ["--jobs", "30", "--cores", "60", "--repeats", "1", "--epochs", "0"])
    assert result.exit_code == 0, result.output
    assert "30 jobs × 50 losses, 60 cores: speedup" in result.stdout
    assert "SLAQ, ten times the jobs and cores" in result.stdout
