"""A stream recorded from real Spark, replayed: the same numbers every time, close to what was measured."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from slaq.errors import SlaqError
from slaq.sim.streams import play, result
from slaq.workload import measures
from slaq.workload.replay import handover_s, replayable, saved_runs, stream_of
from slaq.workload.results import Stage, StreamRun

RECORDED = Path(__file__).with_name("recorded_stream.json")
"""Nine tiny jobs, one of each algorithm, under Spark's FAIR and under SLAQ."""


@pytest.fixture(scope="module")
def runs() -> dict[str, StreamRun]:
    return {run.policy: run for run in saved_runs(RECORDED)}


def test_scripts_keep_all_work_and_all_losses(runs: dict[str, StreamRun]) -> None:
    for run in runs.values():
        stream = stream_of(run)
        held = sum(end - begin for s in run.stages for begin, end in zip(s.launched_s, s.finished_s, strict=True))
        assert sum(one.work_after()[-1] for one in stream.scripts) == pytest.approx(held)
        for one, job in zip(stream.scripts, sorted(run.jobs, key=lambda job: job.arrived_s), strict=True):
            assert tuple(shown.loss for shown in one.losses) == job.losses
            assert one.max_iterations == job.max_iterations
            assert one.pool == job.pool


def test_replays_are_deterministic(runs: dict[str, StreamRun]) -> None:
    stream = stream_of(runs["slaq"])
    for name in ("spark-fair", "finish-line", "clairvoyant", "ideal"):
        assert result(play(stream, name)) == result(play(stream, name))


def test_no_policy_beats_the_clairvoyant_on_ideal_cores(runs: dict[str, StreamRun]) -> None:
    for run in runs.values():
        stream = stream_of(run)
        best = result(play(stream, "ideal"))
        for name in ("spark-fair", "finish-line", "clairvoyant"):
            found = result(play(stream, name))
            assert best.makespan_s <= found.makespan_s
            assert best.t90_s <= found.t90_s


def test_sparks_fair_takes_as_long_as_it_did(runs: dict[str, StreamRun]) -> None:
    ran = runs["spark-fair"]
    found = result(play(stream_of(ran), "spark-fair"))
    assert found.t90_s == pytest.approx(measures.mean_time_to(ran, 0.9), rel=0.1)
    assert found.end_s == pytest.approx(measures.mean_completion(ran), rel=0.1)
    assert found.makespan_s == pytest.approx(ran.makespan_s, rel=0.1)


def test_a_slot_that_is_handed_on_early_counts_negative() -> None:
    stages = (Stage("a", 0.0, (0.0, 1.0), (1.1, 2.0)),)
    assert handover_s(StreamRun("spark-fair", 0, 1, (), 2.0, 2.0, None, 0.0, stages=stages)) == pytest.approx(-0.05)


def test_what_was_not_recorded_is_refused(runs: dict[str, StreamRun], tmp_path: Path) -> None:
    bare = replace(runs["slaq"], stages=())
    assert not replayable(bare)
    with pytest.raises(SlaqError, match="stages or losses were not recorded"):
        stream_of(bare)
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(SlaqError, match="is not a file of"):
        saved_runs(tmp_path / "other.json")
