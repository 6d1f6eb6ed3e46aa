"""The soak's small world: its jobs end, its limits hold; the long run is `slaq bench soak`."""

from slaq.bench import soak
from slaq.bench._soak_world import SoakWorld
from tests.scheduler.support import until


def test_a_few_minutes_pass_in_seconds_and_everything_is_as_it_was():
    facts = soak.measure(hours=0.17, applications=4, seed=1)
    assert facts["decisions"] == 612
    assert facts["ended"] > 0
    assert facts["problems"] == 0
    assert facts["threads"] == facts["threads_warm"]
    assert 0.0 < facts["history_mb"] < soak.SIZE_MB
    assert 0.0 < facts["log_mb"] < soak.LOG_MB


def test_the_world_trains_loses_and_ends_jobs_as_real_agents_do(tmp_path):
    world = SoakWorld(tmp_path, applications=3, seed=2)
    for _ in range(300):
        world.epoch()
    until(lambda: world.status().jobs["finished"] >= world.ended - 3)  # the last ones are on their way
    status = world.status()
    world.close()
    assert status.epoch == 300
    assert status.jobs.get("lost", 0) <= world.lost
    assert status.dropped_reports == 0
    assert status.problems == []
