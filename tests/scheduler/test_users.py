"""Several users: whose a job is, what each user is due, and who may see and change what."""

import math

import pytest

from slaq.config import UserConfig
from slaq.protocol import PROTOCOL, Beat, Change, Declaration, JobBeat
from slaq.scheduler.query import JobQuery
from slaq.scheduler.refusal import UnknownJobError
from slaq.scheduler.store import MemoryArchive
from tests.scheduler.support import APP, Bench, again, job, make_config

FAIR = {"between_users": "fair", "policy": "fair"}


def served(bench: Bench, **counts: int) -> dict[str, float]:
    """Cores by user, for so many jobs of each, all of one application that serves them."""
    beats = [job(f"{user}-{i}", user=user) for user, count in counts.items() for i in range(count)]
    bench.beat(*beats, user="server")
    bench.epoch()
    grants = bench.grants(user="server", jobs=tuple(beat.id for beat in beats))
    return {user: sum(cores for key, cores in grants.items() if key.startswith(f"{user}-")) for user in counts}


def test_one_job_against_twenty_gets_half_if_users_come_first():
    assert served(Bench(make_config(**FAIR)), alice=1, bob=20) == pytest.approx({"alice": 4.0, "bob": 4.0})
    assert served(Bench(make_config(policy="fair")), alice=1, bob=3) == pytest.approx({"alice": 2.0, "bob": 6.0})


def test_a_users_weight_is_that_of_all_their_jobs_together():
    config = make_config({"alice": UserConfig(weight=3.0)}, **FAIR)
    assert served(Bench(config), alice=2, bob=5) == pytest.approx({"alice": 6.0, "bob": 2.0})


def test_a_users_limit_may_be_less_than_a_core_and_idle_slots_do_not_lift_it():
    bench = Bench(make_config({"alice": UserConfig(max_cores=0.5)}, **FAIR))
    assert served(bench, alice=2, bob=1) == pytest.approx({"alice": 0.5, "bob": 7.5})
    answer = bench.beat(again("alice-0"), again("alice-1"), again("bob-0"), user="server")
    assert answer.kept == ["alice-0", "alice-1"]


def test_a_users_reservation_comes_before_the_shares():
    config = make_config({"alice": UserConfig(reserved_cores=6.0)}, **FAIR)
    assert served(Bench(config), alice=1, bob=4) == pytest.approx({"alice": 6.0, "bob": 2.0})


def test_it_can_be_switched_while_jobs_run():
    bench = Bench(make_config(policy="fair"))
    served(bench, alice=1, bob=3)
    for fair, alice in ((True, 4.0), (False, 2.0)):
        bench.scheduler.reconfigure(make_config(policy="fair", between_users="fair" if fair else "policy"))
        bench.epoch()
        assert bench.grants(user="server", jobs=("alice-0",))["alice-0"] == pytest.approx(alice)


def test_an_explanation_tells_the_users_share_and_the_floor_in_it():
    bench = Bench(make_config(**FAIR))
    served(bench, alice=1, bob=20)
    alone, many = (bench.scheduler.job(f"{APP}-{name}").explanation for name in ("alice-0", "bob-0"))
    assert (alone.user_cores, alone.floor, alone.sentence) == (4.0, 1.0, "4 cores: all of its user's share")
    assert (many.user_cores, many.floor) == (pytest.approx(4.0), 0.0)
    bench = Bench(make_config(policy="fair"))
    served(bench, alice=1)
    assert bench.scheduler.job(f"{APP}-alice-0").explanation.user_cores is None


def test_users_see_and_change_their_own_jobs_of_a_server_only():
    bench = Bench()
    served(bench, alice=1, bob=1)
    scheduler = bench.scheduler
    assert [found.user for found in scheduler.jobs(JobQuery(user="alice")).jobs] == ["alice"]
    assert scheduler.change(f"{APP}-alice-0", Change(held=True), "alice").state == "held"
    with pytest.raises(UnknownJobError):
        scheduler.job(f"{APP}-bob-0", "alice")
    with pytest.raises(UnknownJobError):
        scheduler.change(f"{APP}-bob-0", Change(cancel=True), "alice")


@pytest.mark.parametrize("serves", [False, True])
def test_a_server_acts_for_others_only_if_its_token_says_so(serves):
    bench = Bench(make_config({"server": UserConfig(serves_others=serves)}))
    answer = bench.scheduler.beat(Beat(PROTOCOL, APP, 1, jobs=[job("1", user="alice")]), "server", serves)
    (found,) = bench.scheduler.jobs(JobQuery()).jobs
    assert found.user == ("alice" if serves else "server")
    assert ("serves_others" in answer.notice) is not serves


def test_a_name_that_could_control_a_terminal_is_made_safe():
    bench = Bench()
    bench.beat(job("1", user="al\x1b[31mice"), user="server")
    (found,) = bench.scheduler.jobs(JobQuery()).jobs
    assert found.user.isprintable()


def test_jobs_of_several_users_come_back_to_their_users_after_a_restart():
    archive = MemoryArchive()
    first = Bench(archive=archive)
    served(first, alice=1, bob=1)
    first.scheduler.close()
    second = Bench(archive=archive, incarnation=2)
    asked = second.beat(again("alice-0"), again("bob-0"), user="server")
    assert set(asked.resend) == {"alice-0", "bob-0"}
    second.beat(
        *(JobBeat(f"{user}-0", Declaration(user=user), asked.resend[f"{user}-0"]) for user in ("alice", "bob")),
        user="server",
    )
    assert {found.id: found.user for found in second.scheduler.jobs(JobQuery()).jobs} == {
        f"{APP}-alice-0": "alice",
        f"{APP}-bob-0": "bob",
    }


def test_what_users_are_due_is_logged_with_the_state():
    bench = Bench(make_config({"alice": UserConfig(weight=2.0)}, **FAIR))
    served(bench, alice=1, bob=1)
    due = bench.scheduler.recorder.state.users
    assert {user: (each.weight, each.max_cores) for user, each in due.items()} == {
        "alice": (2.0, math.inf),
        "bob": (1.0, math.inf),
    }


def test_metrics_are_by_user():
    pytest.importorskip("prometheus_client")
    from slaq.scheduler.metrics import Metrics

    bench = Bench(make_config(**FAIR))
    served(bench, alice=1, bob=3)
    text = Metrics(bench.scheduler).text().decode()
    assert 'slaq_user_jobs{user="bob"} 3.0' in text
    assert 'slaq_user_granted_cores{user="alice"} 4.0' in text
