"""Long-lived applications with queues on one cluster: the arithmetic, and the command on real Spark, tiny."""

import json
import subprocess
import sys

import pytest
from msgspec.structs import replace

from slaq.bench._comparison import summarise
from slaq.bench._occupancy import occupancy_of
from slaq.bench.queues import chosen, idleness, limit_of, sentences
from slaq.errors import SlaqError
from slaq.workload.app import AppRun
from slaq.workload.replay import saved_runs
from slaq.workload.results import Sample, Stage, StreamRun, Trained
from slaq.workload.shared_cluster import memory_for, together
from slaq.workload.stream import queues
from tests.workload.test_replay import RECORDED


def app(began: float, *, slower: float = 1.0, lost: str = "") -> AppRun:
    times = tuple(slower * at for at in (1.0, 2.0, 3.0))
    first = Trained("1", "KMeans", 0.5, 4.0 * slower, times, (4.0, 1.0, 0.0), (1.0,))
    second = replace(first, name="2", arrived_s=4.0 * slower, ended_s=8.0 * slower)
    stages = (Stage("1", 0.5, (0.5, 1.0), (1.5, 2.0)),)
    run = StreamRun("slaq", 0, 2, (first, second), 8.0 * slower, 6.0, None, 0.5, None, (Sample(1, "1", 1, 1, 0, 1),))
    return AppRun(began, replace(run, stages=stages), [lost] if lost else [])


def test_the_applications_are_put_on_one_clock():
    whole = together("slaq", 3, 2, [app(100.0), app(101.5)], cpu_s=20.0, machine_s=25.0)
    assert (whole.policy, whole.round, whole.cores) == ("slaq", 3, 2)
    assert [(job.arrived_s, job.ended_s) for job in whole.jobs] == [(0.0, 4.0), (4.0, 8.0), (0.0, 5.5), (5.5, 9.5)]
    assert whole.jobs[2].times_s == (2.5, 3.5, 4.5), "the first fit is due when all begin"
    assert whole.makespan_s == 9.5
    assert (whole.held_core_s, whole.cpu_s, whole.driver_cpu_s, whole.machine_cpu_s) == (12.0, 19.0, 1.0, 25.0)
    assert [stage.submitted_s for stage in whole.stages] == [0.5, 2.0]
    assert [sample.at_s for sample in whole.samples] == [1.0, 2.5]


def test_an_application_that_lost_an_executor_was_not_measured():
    whole = together("slaq", 0, 2, [app(0.0), app(0.0, lost="Command exited with code 52")], 20.0, None)
    assert [bool(job.error) for job in whole.jobs] == [False, False, True, True]
    assert "application 2 lost an executor: Command exited with code 52 (exit code 52 is a lack" in whole.jobs[2].error
    assert summarise([whole], "slaq").mean["slaq"]["mean_t90_s"] is None


def test_slaq_is_compared_with_the_best_of_sparks_own_ways():
    runs = [together(way, 0, 2, [app(0.0, slower=slower)], 9.0, None) for way, slower in WAYS_TO_COMPARE.items()]
    said = sentences(summarise(runs, "spark-shared"), {})
    assert said == ["slaq against the best of Spark's own ways, spark-fifo: 90 % after -50%, whole stream -50.0%"]


WAYS_TO_COMPARE = {"slaq": 1.0, "spark-shared": 3.0, "spark-fifo": 2.0}


def test_cores_idle_while_tasks_wait_by_the_recorded_stages():
    run = together("slaq", 0, 2, [app(0.0)], 9.0, None)
    assert idleness([run]) == {"longest_s": pytest.approx(0.5), "share": pytest.approx(0.5 / 3.0)}
    with pytest.raises(SlaqError, match="no stage"):
        occupancy_of([])


def test_the_limit_is_that_of_the_same_rounds():
    recorded = {run.policy: run for run in saved_runs(RECORDED)}
    ours, theirs = recorded["slaq"], replace(recorded["spark-fair"], policy="spark-shared")
    found = limit_of([ours, replace(ours, round=7)], [theirs], 0.5)
    assert found is not None
    assert found.regret["t90_s"].value > 0.5
    assert limit_of([ours], [], 0.5) is None
    assert limit_of([replace(ours, jobs=(replace(ours.jobs[0], error="lost"),))], [theirs], 0.5) is None


def test_each_application_trains_algorithms_of_its_own_the_same_in_every_round():
    first, second = queues(5, 6, seed=1), queues(5, 6, seed=2)
    trained = [{job.algorithm for job in queue} for queue in first]
    assert trained == [{job.algorithm for job in queue} for queue in second]
    assert sum(len(names) for names in trained) == len(set().union(*trained))
    assert len({job.name for queue in first for job in queue}) == 30
    assert all(job.arrival_s == 0.0 for queue in first for job in queue)
    assert first != second
    with pytest.raises(SlaqError, match="give 1 to 9"):
        queues(10, 1, seed=1)


@pytest.mark.parametrize("ways", ["", "slaq,slaq", "slaq,magic"])
def test_ways_that_make_no_sense_are_refused(ways):
    with pytest.raises(SlaqError, match="--ways"):
        chosen(ways)


def test_memory_follows_the_machine_and_the_number_of_applications():
    few, many = int(memory_for(1)[:-1]), int(memory_for(9)[:-1])
    assert 512 <= many <= few <= 4096


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_the_command_compares_on_a_real_cluster(tmp_path):
    tiny = ["--applications=2", "--fits=1", "--rows=0.02", "--length=0.1", "--cores=2", "--memory=600m"]
    command = [sys.executable, "-m", "slaq.cli", "bench", "queues", *tiny, "--ways=slaq,spark-shared", "--format=json"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    facts = json.loads(done.stdout)
    assert facts["failures"] == []
    assert set(facts["mean"]) == {"slaq", "spark-shared"}
    assert facts["mean"]["slaq"]["cpu_s"] > 0.0
    assert facts["final_losses"]["slaq"] < 1e-6
