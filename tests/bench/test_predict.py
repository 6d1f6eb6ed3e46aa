"""`slaq bench predict`: the same positions and the same error for every method, in a form programs can read."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from slaq.bench._baselines import BASELINES
from slaq.bench.predict import AHEAD, FIRST, PREDICTORS, command, run_errors, spread
from slaq.errors import SlaqError


def run_of(losses, algorithm="GD", kind="smooth"):
    return {"algorithm": algorithm, "kind": kind, "losses": list(losses)}


def report(path, runs, *options):
    path.write_text(json.dumps(runs), encoding="utf-8")
    result = CliRunner().invoke(command, ["--traces", str(path), "--positions", "2", *options], catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_the_json_names_every_method_by_kind_algorithm_and_horizon(tmp_path):
    runs = [run_of(1.0 / np.arange(1.0, 31.0)), run_of(0.8 ** np.arange(25.0), algorithm="EM", kind="noisy")]
    facts = json.loads(report(tmp_path / "runs.json", runs, "--format", "json"))
    methods = {*PREDICTORS, *BASELINES}
    assert facts["runs"] == {"noisy": 1, "smooth": 1}
    assert facts["errors"]["smooth"].keys() == {str(ahead) for ahead in AHEAD}
    assert facts["errors"]["smooth"]["10"].keys() == methods
    assert facts["by_algorithm"]["EM"]["noisy"]["1"].keys() == methods
    assert "smooth" not in facts["by_algorithm"]["EM"]
    assert facts["positions"] == {"compared": 4, "all": 25 + 20}
    assert facts["learned_at_every_position"]["smooth"]["10"] < 0.05


def test_the_table_shows_percent(tmp_path):
    assert "learned" in report(tmp_path / "runs.json", [run_of(1.0 / np.arange(1.0, 21.0))])


def test_the_error_is_a_share_of_the_range_averaged_within_runs_first():
    runs = [run_of([10.0, 8.0, 6.0, 5.0, 4.0, 3.0, 2.0]), run_of([5.0] * 7)]
    places = [(0, 5), (0, 6), (1, 5)]
    predicted = np.array([[3.8, 0.0, 0.0], [2.0, 0.0, 0.0], [5.0, 5.0, 5.0]])
    errors = run_errors(runs, places, predicted)
    assert errors[0, 0] == pytest.approx((0.1 + 0.0) / 2)
    assert np.isnan(errors[0, 1:]).all()  # the run ends before
    assert np.isnan(errors[1]).all()  # and this one never moved


def test_positions_are_spread_over_the_whole_run():
    assert spread(FIRST + 3, 6, shift=0.5) == [5, 6, 7]
    assert spread(FIRST, 6, shift=0.5) == []
    assert spread(105, 4, shift=0.0) == [5, 30, 55, 80]
    assert spread(105, 4, shift=0.5) == [17, 42, 67, 92]


def test_the_baselines_follow_their_own_curves():
    k = np.arange(1.0, 21.0)
    ahead = np.array([1.0, 10.0])
    sublinear, exponential = 1.0 / (0.3 * k + 1.0) + 0.2, 0.7 ** (k - 1.0) + 0.2
    for name, curve in (("scipy-fit", sublinear), ("scipy-fit", exponential), ("optimus", sublinear)):
        later = curve[-1] if curve is exponential else 1.0 / (0.3 * 30.0 + 1.0) + 0.2
        assert BASELINES[name](curve, ahead)[1] == pytest.approx(later, abs=0.01)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "give a JSON array"),
        ("[]", "holds no runs"),
        ('[{"losses": [1]}]', "needs the keys"),
        ('[{"algorithm": "a", "kind": "k", "losses": [1, "x"]}]', "finite numbers"),
        ('[{"algorithm": "a", "kind": "k", "losses": [1, 2]}]', "give longer ones"),
    ],
)
def test_a_file_that_holds_no_runs_is_refused_with_a_remedy(tmp_path, text, message):
    path = tmp_path / "runs.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SlaqError, match=message):
        CliRunner().invoke(command, ["--traces", str(path)], catch_exceptions=False)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(SlaqError, match=r"Cannot read .*nowhere\.json"):
        CliRunner().invoke(command, ["--traces", str(tmp_path / "nowhere.json")], catch_exceptions=False)
