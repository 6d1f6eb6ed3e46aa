"""Figures: every one of the paper's is drawn, and the report stands alone."""

import json
import re

import pytest
from click.testing import CliRunner

from slaq.cli import figures, root
from slaq.sim.curves import recorded
from slaq.sim.figures import cluster, curves
from slaq.sim.figures.paper import FIGURES


def test_most_of_the_loss_falls_early():
    found = curves.diminishing_returns(recorded())
    at_80 = found["shares"].index(0.8)
    assert all(shares[at_80] < 0.4 for shares in found["time_share"].values())


def test_normalised_changes_fall_from_one():
    for change in curves.normalised_changes(recorded())["change"].values():
        assert change[0] == 1.0
        assert change[-1] < 0.9


def test_the_error_of_a_perfect_prediction_is_zero():
    known = recorded()[:3]
    truth = {curve.losses: curve.losses for curve in known}

    def perfect(losses, ahead):
        (whole,) = [full for full in truth if full[: len(losses)] == tuple(losses)]
        return [whole[len(losses) - 1 + int(n)] for n in ahead]

    found = curves.prediction_errors(known, {"perfect": perfect})
    assert found["by_horizon"]["perfect"] == [0.0, 0.0, 0.0]


def test_iteration_times_are_predicted_beyond_the_cores_they_were_learned_on():
    found = cluster.iteration_times()
    for name in found.keys() - {"cores"}:
        assert found[name]["predicted_s"] == pytest.approx(found[name]["true_s"], rel=0.05)


@pytest.mark.slow
def test_the_report_holds_every_figure_and_needs_nothing_else(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(figures, "DECISIONS", ((10, 20), (40, 80)))
    result = CliRunner().invoke(root, ["figures", "--out", str(tmp_path), "--seeds", "1", "--jobs", "12"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "overview.png").stat().st_size > 5000
    report = (tmp_path / "report.html").read_text()
    assert not re.search(r"(src|href)=.(?!data:)", report)
    facts = json.loads((tmp_path / "figures.json").read_text())
    for number, figure in FIGURES.items():
        assert (tmp_path / f"figure-{number}.png").stat().st_size > 5000
        assert figure.title in report
        assert number in facts["figures"]
