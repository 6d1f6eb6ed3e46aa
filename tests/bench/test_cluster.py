"""The comparison's arithmetic, and the command on real Spark, tiny."""

import json

import pytest
from click.testing import CliRunner
from msgspec.structs import replace

from slaq.bench._comparison import summarise
from slaq.bench.cluster import chosen, command, footnotes, table
from slaq.errors import SlaqError
from slaq.workload.results import StreamRun, Trained
from slaq.workload.stream import in_turn, poisson


def run(policy: str, number: int, slower: float) -> StreamRun:
    losses, times = (4.0, 2.0, 1.0, 0.0), tuple(slower * t for t in (1.0, 2.0, 3.0, 4.0))
    job = Trained("01-KMeans", "KMeans", 0.0, 5.0 * slower, times, losses, (1.0, 2.0))
    return StreamRun(policy, number, 2, (job,), 5.0 * slower, 8.0 * slower, 9.0, 0.1)


RUNS = [run("slaq", 0, 1.0), run("spark-fair", 0, 2.0), run("slaq", 1, 3.0), run("spark-fair", 1, 4.0)]


def test_policies_are_compared_within_a_round() -> None:
    summary = summarise(RUNS, "spark-fair")
    assert summary.versus_rounds["slaq"]["mean_t90_s"] == pytest.approx([-0.5, -0.25])
    assert summary.versus["slaq"]["makespan_s"].value == pytest.approx(4.0 / 6.0)
    assert summary.mean["slaq"]["mean_t90_s"] == pytest.approx(8.0)
    assert summary.models == {"slaq": 0.0}
    assert summary.failures == []


def test_the_table_names_the_difference_to_the_baseline() -> None:
    summary = summarise(RUNS, "spark-fair")
    first = table(summary)[0]
    assert first == {
        "mean of the rounds": "s to 90 % of a job's reduction",
        "slaq": "8 (-33%, -50% to -25%)",
        "spark-fair": "12",
    }
    assert "t90 by round -50%, -25%" in footnotes(summary, {}, {})


def test_a_run_with_a_failed_job_is_not_measured() -> None:
    gave_up = replace(RUNS[0], jobs=(replace(RUNS[0].jobs[0], error="OutOfMemoryError", model=()),))
    summary = summarise([gave_up, RUNS[1]], "spark-fair")
    assert summary.mean["slaq"]["mean_t90_s"] is None
    assert summary.failures == ["slaq 01-KMeans: OutOfMemoryError"]
    text = footnotes(summary, {}, {})
    assert "whole stream not known" in text
    assert "largest number: are missing" in text


def test_real_data_goes_with_streams_in_this_driver_only(tmp_path) -> None:
    result = CliRunner().invoke(command, ["--policies", "bare,slaq", "--data", str(tmp_path)])
    assert "--data is for streams in this driver" in str(result.exception)


def test_the_policies_take_turns_at_going_first() -> None:
    streams = [poisson(1, 0.0, seed) for seed in range(3)]
    order = [(number, policy) for number, _, policy in in_turn(streams, ["a", "b"])]
    assert order == [(0, "a"), (0, "b"), (1, "b"), (1, "a"), (2, "a"), (2, "b")]


@pytest.mark.parametrize("policies", ["", "slaq,slaq", "slaq,magic"])
def test_policies_that_make_no_sense_are_refused(policies: str) -> None:
    with pytest.raises(SlaqError, match="polic"):
        chosen(policies)


@pytest.mark.spark
@pytest.mark.slow
def test_the_command_compares_on_real_spark() -> None:
    tiny = ["--jobs", "2", "--rounds", "1", "--gap", "0.1", "--rows", "0.02", "--length", "0.1", "--cores", "2"]
    result = CliRunner().invoke(command, [*tiny, "--policies", "slaq,spark-fair", "--format", "json"])
    assert result.exit_code == 0, result.output
    facts = json.loads(result.stdout[result.stdout.index("{") :])
    assert facts["failures"] == []
    assert facts["final_losses"]["slaq"] < 1e-6
    assert set(facts["mean"]) == {"slaq", "spark-fair"}
