"""The scheduler without a network: what agents and people see of it."""

import math

import pytest
from msgspec.structs import replace

from slaq.config import LimitsConfig
from slaq.protocol import PROTOCOL, Beat, Change, Declaration, JobBeat, Report
from slaq.scheduler.epochs import LEAD_S
from slaq.scheduler.query import JobQuery
from slaq.scheduler.refusal import (
    ForbiddenError,
    OverError,
    RefusalError,
    TooManyError,
    UndecidedError,
    UnknownJobError,
    UnstoppableError,
    VersionError,
)
from tests.scheduler.support import APP, Bench, again, job, make_config

KEY = f"{APP}-1"


def test_a_job_gets_its_cores_with_the_next_decision():
    bench = Bench()
    answer = bench.beat(job("1", 1.0, 0.5), job("2", max_cores=2.0))
    assert answer.grants == {}
    bench.epoch()
    answer = bench.beat(again("1"), again("2"))
    assert sum(answer.grants.values()) == pytest.approx(8.0)
    assert all(cores >= 1.0 for cores in answer.grants.values())
    assert answer.grants["2"] <= 2.0
    assert (answer.protocol, answer.incarnation, answer.epoch, answer.lease_s) == (PROTOCOL, 1, 1, 5.0)


def test_jobs_stand_by_in_the_order_of_what_one_more_core_would_bring_them():
    bench = Bench(make_config(policy="max-total", capacity=3))
    steep, flat = [0.5**k for k in range(8)], [0.9**k for k in range(8)]
    bench.beat(job("over", *steep), job("slow", *flat), job("held", *flat))
    bench.scheduler.change(f"{APP}-held", Change(held=True))
    assert bench.beat(again("over"), again("slow"), again("held")).standby == [], "nothing is decided yet"
    bench.epoch()
    assert bench.beat(again("over"), again("slow"), again("held")).standby == ["slow", "over"]


def test_reports_that_are_sent_twice_count_once():
    bench = Bench()
    bench.beat(job("1", 5.0, 4.0, 3.0))
    bench.beat(again("1", 5.0, 4.0, 3.0, 2.0, first=0))
    bench.beat(again("1", 3.0, 2.0, 1.0, first=2))
    detail = bench.scheduler.job(KEY)
    assert [point.loss for point in detail.losses] == [5.0, 4.0, 3.0, 2.0, 1.0]
    assert detail.job.reports == 5
    assert bench.scheduler.recorder.state.jobs[KEY].history.losses == (5.0, 4.0, 3.0, 2.0, 1.0)


def test_reports_that_are_missing_are_asked_for_and_counted_if_they_never_come():
    bench = Bench()
    bench.beat(job("1", 5.0))
    assert bench.beat(again("1", 2.0, first=4)).resend == {"1": 1}
    assert bench.scheduler.job(KEY).job.reports == 1
    assert bench.beat(job("1", 3.0, 2.0, first=3)).resend == {}
    assert bench.scheduler.counters().missed_reports == 2
    assert bench.scheduler.job(KEY).job.reports == 5


def test_a_job_that_is_over_does_not_begin_again():
    bench = Bench()
    bench.beat(job("1", 5.0, ended="finished"))
    bench.beat(job("1", 5.0))
    assert bench.scheduler.intake.jobs == {}
    assert bench.scheduler.job(KEY).job.state == "finished"


def test_a_beat_that_was_seen_before_changes_nothing():
    bench = Bench()
    bench.beat(job("1", 5.0), seq=7)
    bench.epoch()
    replayed = bench.beat(job("1", 5.0, 1.0), job("2"), seq=7)
    assert replayed.grants == {"1": 8.0}
    assert bench.scheduler.job(KEY).job.reports == 1
    with pytest.raises(UnknownJobError):
        bench.scheduler.job(f"{APP}-2")


def test_an_unknown_job_is_asked_to_declare_itself():
    bench = Bench()
    assert bench.beat(again("1", 1.0, first=9)).resend == {"1": 0}
    assert bench.scheduler.intake.jobs == {}
    assert bench.beat(job("1", 1.0, first=9)).resend == {}


def test_an_answer_to_an_earlier_scheduler_is_not_all_that_this_one_asks_for():
    """The one before knew the first nine reports; with its database out of reach, this one does not."""
    bench = Bench(incarnation=2)
    assert bench.beat(job("1", 1.0, first=9), incarnation=1).resend == {"1": 0}
    assert bench.scheduler.intake.jobs == {}
    losses = [10.0 - number for number in range(10)]
    assert bench.beat(job("1", *losses), incarnation=2).resend == {}
    detail = bench.scheduler.job(KEY)
    assert (detail.job.reports, [point.loss for point in detail.losses]) == (10, losses)
    assert bench.beat(job("2", 1.0, first=9), incarnation=2).resend == {}, "what is gone is not asked for twice"


def test_an_ended_job_is_kept_for_people():
    bench = Bench()
    bench.beat(job("1", 3.0, 2.0, name="fit"))
    bench.epoch()
    answer = bench.beat(again("1", 1.0, first=2, ended="failed"))
    assert answer.saved == ["1"]
    assert answer.grants == {}
    view = bench.scheduler.job(KEY).job
    assert (view.state, view.name, view.loss, view.reports, view.cores) == ("failed", "fit", 1.0, 3, 0.0)
    assert [found.id for found in bench.scheduler.jobs(JobQuery(states=("failed",))).jobs] == [KEY]
    assert bench.beat(again("1", ended="failed")).saved == ["1"]


def test_granted_cores_are_counted_until_the_end():
    bench = Bench()
    bench.beat(job("1", 3.0))
    bench.epoch(1.0)
    bench.epoch(1.0)
    bench.now += 0.5
    bench.beat(again("1", ended="finished"))
    assert bench.scheduler.job(KEY).job.core_s == pytest.approx(1.5 * 8.0)


def test_a_job_that_came_and_went_between_two_beats_is_known():
    bench = Bench()
    assert bench.beat(job("1", 3.0, 2.0, ended="finished")).saved == ["1"]
    assert bench.scheduler.job(KEY).job.state == "finished"


def test_a_silent_job_is_lost_after_its_lease_and_its_cores_go_to_the_others():
    bench = Bench()
    bench.beat(job("1", 3.0))
    bench.beat(job("1"), app="app0002")
    bench.epoch()
    for _ in range(5):
        bench.grants(app="app0002", jobs=("1",))
        bench.epoch()
    assert bench.scheduler.job(KEY).job.state == "lost"
    assert bench.grants(app="app0002", jobs=("1",)) == {"1": 8.0}
    assert APP not in bench.scheduler.intake.apps


def test_a_lost_job_that_returns_goes_on_where_it_was():
    bench = Bench()
    bench.beat(job("1", 3.0, 2.0))
    bench.epoch(1.0)
    bench.epoch(6.0)
    assert bench.scheduler.job(KEY).job.state == "lost"
    assert bench.beat(again("1", 1.0, first=2)).resend == {"1": 2}
    bench.beat(job("1", 1.0, first=2))
    view = bench.scheduler.job(KEY).job
    assert (view.state, view.first_loss, view.loss, view.reports) == ("queued", 3.0, 1.0, 3)


def test_an_application_that_leaves_takes_its_jobs_along():
    bench = Bench()
    bench.beat(job("1"), job("2"))
    bench.beat(again("1", ended="finished"), leaving=True)
    states = {view.id: view.state for view in bench.scheduler.jobs(JobQuery()).jobs}
    assert states == {KEY: "finished", f"{APP}-2": "lost"}


def test_a_job_may_declare_itself_anew():
    bench = Bench()
    bench.beat(job("1", 3.0, max_cores=2.0))
    bench.beat(JobBeat("1", Declaration(max_cores=4.0), 1))
    bench.epoch()
    assert bench.grants(jobs=("1",)) == {"1": 4.0}
    assert bench.scheduler.job(KEY).job.first_loss == 3.0


def test_a_nan_loss_marks_the_job_as_diverged():
    bench = Bench()
    bench.beat(JobBeat("1", Declaration(), 0, [Report(1.0), Report(None)]))
    detail = bench.scheduler.job(KEY)
    assert detail.job.diverged
    assert detail.job.loss == 1.0
    assert math.isnan(detail.losses[1].loss)


def test_when_the_scheduler_itself_was_stopped_no_job_is_lost():
    bench = Bench()
    bench.beat(job("1"))
    bench.epoch()
    due = bench.now + 1.0
    bench.now += 3600.0
    bench.scheduler.decide(due)
    assert bench.scheduler.job(KEY).job.state == "running"
    assert bench.scheduler.status().epochs_late == 1
    bench.epoch(6.0)
    assert bench.scheduler.job(KEY).job.state == "lost"


def test_grants_are_not_renewed_when_there_is_no_decision_for_a_lease():
    bench = Bench()
    bench.beat(job("1", 3.0))
    bench.epoch()
    bench.now += 5.0
    assert bench.grants(jobs=("1",)) == {"1": 8.0}
    bench.now += 0.1
    with pytest.raises(UndecidedError, match="5 s old"):
        bench.beat(again("1", 2.0, first=1))
    assert UndecidedError.status == 503
    bench.now += 60.0
    with pytest.raises(UndecidedError):
        bench.beat(again("1", 2.0, first=1))
    bench.epoch()
    assert bench.beat(again("1", 2.0, first=1)).grants == {"1": 8.0}
    assert bench.scheduler.job(KEY).job.reports == 2


def test_before_the_first_decision_there_is_nothing_to_grow_old():
    bench = Bench()
    bench.now += 3600.0
    assert bench.beat(job("1")).grants == {}


def test_a_held_job_waits_until_it_is_released():
    bench = Bench(make_config(policy="fair"))
    bench.beat(job("1"), job("2"))
    view = bench.scheduler.change(KEY, Change(held=True))
    assert (view.state, view.cores) == ("held", 0.0)
    bench.epoch()
    assert bench.grants(jobs=("1", "2")) == {"1": 0.0, "2": 8.0}
    assert "held" in bench.scheduler.job(KEY).job.reason
    bench.scheduler.change(KEY, Change(held=False))
    bench.epoch()
    assert bench.grants(jobs=("1", "2")) == {"1": 4.0, "2": 4.0}


def test_a_weight_set_by_its_user_counts():
    bench = Bench(make_config(policy="fair", capacity=8))
    bench.beat(job("1"), job("2"))
    bench.scheduler.change(KEY, Change(weight=3.0))
    bench.epoch()
    assert bench.grants(jobs=("1", "2")) == {"1": 6.0, "2": 2.0}
    assert bench.scheduler.job(KEY).job.weight == 3.0


def test_a_cancelled_job_is_told_until_it_ends():
    bench = Bench()
    bench.beat(job("1"))
    bench.scheduler.change(KEY, Change(cancel=True))
    assert bench.beat(again("1")).cancel == ["1"]
    assert bench.beat(again("1")).cancel == ["1"]
    assert bench.beat(again("1", ended="cancelled")).cancel == []
    with pytest.raises(OverError, match="is cancelled"):
        bench.scheduler.change(KEY, Change(weight=2.0))


def test_a_job_to_be_stopped_is_told_until_it_ends():
    bench = Bench()
    bench.beat(job("1", 2.0), job("2", 2.0))
    for _ in range(2):  # asking twice is asking once
        assert bench.scheduler.change(KEY, Change(stop=True)).id == KEY
    assert bench.beat(again("1"), again("2")).stop == ["1"]
    assert bench.beat(again("1"), again("2")).stop == ["1"]
    assert bench.beat(again("1", ended="stopped"), again("2")).stop == []
    assert bench.scheduler.job(KEY).job.state == "stopped"
    with pytest.raises(OverError, match="is stopped; only living jobs"):
        bench.scheduler.change(KEY, Change(stop=True))


@pytest.mark.parametrize(
    ("declared", "obstacle"),
    [
        ({"unstoppable": "explicit ALS runs all its iterations in one Spark job"}, "explicit ALS runs"),
        ({"ml": False}, "no loss of it is known"),
    ],
)
def test_a_stop_of_what_cannot_be_stopped_is_refused_and_changes_nothing(declared, obstacle):
    bench = Bench()
    bench.beat(job("1", **declared))
    with pytest.raises(UnstoppableError, match=f"{KEY} cannot be stopped early: {obstacle}"):
        bench.scheduler.change(KEY, Change(stop=True, weight=3.0))
    assert bench.beat(again("1")).stop == []
    assert bench.scheduler.job(KEY).job.weight == 1.0


def test_people_see_and_change_their_own_jobs_only():
    bench = Bench()
    bench.beat(job("1"), user="alice")
    bench.beat(job("1"), app="app0002", user="bob")
    assert [view.user for view in bench.scheduler.jobs(JobQuery(user="bob")).jobs] == ["bob"]
    assert bench.scheduler.jobs(JobQuery()).total == 2
    with pytest.raises(UnknownJobError):
        bench.scheduler.job(KEY, "bob")
    with pytest.raises(UnknownJobError):
        bench.scheduler.change(KEY, Change(held=True), "bob")
    assert bench.scheduler.job(KEY, "alice").job.state == "queued"


def test_nobody_speaks_for_an_application_of_somebody_else():
    bench = Bench()
    bench.beat(job("1", 1.0), user="alice")
    with pytest.raises(ForbiddenError):
        bench.beat(again("1", ended="finished"), user="alice", as_user="mallory")
    assert bench.scheduler.job(KEY).job.state == "queued"
    assert bench.scheduler.job(KEY).job.reports == 1


def test_a_job_id_of_an_application_that_is_gone_stays_its_users():
    bench = Bench()
    bench.beat(job("1", 1.0, ended="finished"), user="alice")
    bench.epoch(20.0)
    answer = bench.beat(job("1", 9.0), user="mallory")
    assert answer.resend == {"1": 0}
    assert "another user" in answer.notice
    assert bench.scheduler.job(KEY).job.user == "alice"


def test_another_protocol_version_is_refused():
    bench = Bench()
    with pytest.raises(VersionError, match=f"protocol {PROTOCOL + 1}"):
        bench.scheduler.beat(Beat(PROTOCOL + 1, APP, 1))


def test_more_applications_than_allowed_are_refused():
    bench = Bench(make_config(limits=LimitsConfig(applications=1)))
    bench.beat()
    with pytest.raises(TooManyError, match=r"limits\.applications"):
        bench.beat(app="app0002")


@pytest.mark.parametrize("limits", [LimitsConfig(jobs=2), LimitsConfig(jobs_per_application=2)])
def test_more_jobs_than_allowed_run_unscheduled_and_their_user_is_told(limits):
    bench = Bench(make_config(limits=limits))
    answer = bench.beat(job("1"), job("2"), job("3"))
    assert answer.resend == {"3": 0}
    assert "unscheduled" in answer.notice
    bench.epoch()
    assert set(bench.grants(jobs=("1", "2"))) == {"1", "2"}


def test_an_application_that_beats_too_often_has_to_slow_down():
    bench = Bench(make_config(limits=LimitsConfig(requests_per_s=3.0)))
    for _ in range(3):
        bench.beat(job("1"))
    with pytest.raises(TooManyError, match="3 times a second"):
        bench.beat(job("2"))
    assert set(bench.scheduler.intake.jobs) == {KEY}
    bench.now += 1.0
    bench.beat(job("1"))


def test_names_cannot_drive_a_terminal():
    bench = Bench()
    bench.beat(job("1", name="\x1b[31mred", estimator="a\nb"), name="\x07bell", user="al\x00ice")
    view = bench.scheduler.job(KEY).job
    assert view.name.isprintable()
    assert view.estimator.isprintable()
    assert view.app_name.isprintable()
    assert view.user.isprintable()


def waits(apps: int, until_s: float) -> list[float]:
    bench = Bench()
    bench.scheduler.expect_next(bench.now + until_s)
    for i in range(apps):
        bench.beat(app=f"app{i:05}")
    return [bench.beat(app=f"app{i:05}").next_beat_s for i in range(apps)]


def test_beats_come_shortly_before_a_decision_and_soon_after_it_each_at_its_own_moment():
    spread_s = 500 * 0.0002
    before, after = waits(500, until_s=0.5), waits(500, until_s=0.05)
    assert all(0.5 - LEAD_S - spread_s <= wait <= 0.5 - LEAD_S for wait in before)
    assert all(0.1 <= wait <= 0.1 + 0.05 + spread_s + 0.01 for wait in after)
    assert min(len(set(before)), len(set(after))) > 200


def test_with_many_applications_each_beats_once_an_epoch_after_the_decision():
    assert all(0.5 <= wait <= 0.5 + 1500 * 0.0002 + 0.01 for wait in waits(1500, until_s=0.5))


def test_the_forecast_is_judged_by_what_came():
    bench = Bench()
    losses = [2.0**-k for k in range(12)]
    bench.beat(job("1", losses[0]))
    for k in range(1, 12):
        bench.beat(JobBeat("1", None, k, [Report(losses[k], k, 2.0, 0.0)]))
        bench.epoch()
    prediction = bench.scheduler.job(KEY).prediction
    assert prediction.judged == 9
    assert 0.0 <= prediction.mean_error < 0.1
    assert prediction.last_reported == losses[-1]
    assert prediction.last_expected == pytest.approx(losses[-1], abs=0.05)
    assert prediction.loss < losses[-1]
    assert prediction.iterations > 0
    assert 0.0 <= bench.scheduler.job(KEY).job.normalised_loss < 0.2
    assert bench.scheduler.status().mean_loss == bench.scheduler.job(KEY).job.normalised_loss


def test_news_of_a_job_brings_the_next_decision_forward():
    bench = Bench()
    bench.epoch()
    bench.now += 0.2
    assert bench.beat(job("1")).grants == {"1": 8.0}  # it began
    bench.now += 0.2
    assert bench.beat(again("1", 1.0)).epoch == 3  # its first loss
    bench.now += 0.2
    assert bench.beat(again("1", 0.9, first=1)).epoch == 3
    assert bench.beat(job("2")).epoch == 4
    bench.now += 0.2
    assert bench.beat(again("1", ended="finished"), again("2")).grants == {"2": 8.0}


def test_no_decision_comes_right_after_another_or_before_all_could_hear_of_it():
    bench = Bench()
    bench.epoch()
    bench.now += 0.05
    assert bench.beat(job("1")).epoch == 1
    bench.epoch()
    bench.now += 0.2
    bench.beat(app="app0002", user="bob")
    assert bench.beat(again("1"), job("2")).epoch == 2


def test_a_decision_says_how_far_milestones_are():
    bench = Bench()
    bench.beat(job("1", *(2.0**-k for k in range(3)), max_iterations=50))
    bench.beat(JobBeat("1", None, 3, [Report(0.12, 3, 2.0, 0.0)]))
    bench.epoch()
    ahead = bench.scheduler.job(KEY).explanation.ahead
    assert [each.share for each in ahead] == [0.9, 0.95, 1.0]
    for each in ahead:
        assert 0.0 <= each.least_core_s <= each.core_s <= each.most_core_s <= 2.0 * 47
    assert ahead[-1].core_s > ahead[0].core_s


@pytest.mark.parametrize(("prefer", "worth"), [("good", 0.1), ("balanced", 0.6), ("done", 2.0)])
def test_what_is_preferred_in_words_is_what_the_end_is_worth(prefer, worth):
    assert Bench(make_config(prefer=prefer)).scheduler.recorder.state.tuning.worth_end == worth


def test_every_decision_is_explained():
    bench = Bench()
    bench.beat(job("1", 3.0, 2.0), job("2", 3.0, 2.9))
    assert bench.scheduler.job(KEY).explanation is None
    bench.epoch()
    why = bench.scheduler.job(KEY).explanation
    assert why.policy == "finish-line"
    assert (why.epoch, why.floor, why.cap, why.weight) == (1, 1.0, 8.0, 1.0)
    assert why.sentence == bench.scheduler.job(KEY).job.reason
    assert why.cores == bench.grants(jobs=("1", "2"))["1"]


def test_another_configuration_takes_effect_without_losing_a_job():
    bench = Bench()
    bench.beat(job("1", 3.0), job("2", 3.0))
    bench.epoch()
    bench.scheduler.reconfigure(make_config(policy="fifo", capacity=12, epoch_s=0.5, lease_s=3.0))
    bench.epoch(0.5)
    assert bench.grants(jobs=("1", "2")) == {"1": 11.0, "2": 1.0}
    status = bench.scheduler.status()
    assert (status.policy, status.capacity.cores, status.epoch_s, status.lease_s) == ("fifo", 12, 0.5, 3.0)
    assert status.jobs["running"] == 2


@pytest.mark.parametrize(("told", "believed"), [(1e9 + 50.0, 1e9 + 50.0), (1e12, 1e9 + 100.0), (-1.0, 1e9 + 100.0)])
def test_a_beginning_in_the_future_or_before_1970_is_not_believed(told, believed):
    bench = Bench()
    bench.beat(job("1", began_at=told))
    assert bench.scheduler.job(KEY).job.began_at == believed


def test_lists_are_sorted_cut_and_counted():
    bench = Bench()
    for number, loss in enumerate([3.0, 1.0, 2.0]):
        bench.beat(job(str(number), loss))
        bench.now += 0.1
    bench.beat(job("4"))

    def ids(**query):
        return [view.id.partition("-")[2] for view in bench.scheduler.jobs(JobQuery(**query)).jobs]

    assert ids() == ["4", "2", "1", "0"]
    assert ids(sort="loss") == ["1", "2", "0", "4"]
    assert ids(sort="-loss") == ["0", "2", "1", "4"]
    assert ids(limit=2, offset=1) == ["2", "1"]
    assert bench.scheduler.jobs(JobQuery(limit=1)).total == 4
    with pytest.raises(RefusalError, match="'colour'"):
        JobQuery(sort="colour")
    with pytest.raises(RefusalError, match="'asleep'"):
        JobQuery(states=("asleep",))


def test_a_newer_scheduler_somewhere_is_a_problem_to_tell():
    bench = Bench(incarnation=5)
    bench.beat(incarnation=5)
    assert bench.scheduler.status().problems == []
    bench.beat(incarnation=6)
    assert "newer scheduler" in bench.scheduler.status().problems[0]


def test_the_dump_holds_everything():
    bench = Bench()
    bench.beat(job("1", 1.0), name="my app")
    dump = bench.scheduler.dump()
    assert [found.job.id for found in dump.jobs] == [KEY]
    assert dump.applications[0]["name"] == "my app"
    assert dump.settings["scheduler"].capacity == 8


def test_the_tuning_of_the_configuration_reaches_the_engine_at_the_start_and_with_a_reload():
    bench = Bench(replace(make_config(), tuning={"crowd_share": 0.5}))
    assert bench.scheduler.recorder.state.tuning.crowd_share == 0.5
    bench.scheduler.reconfigure(replace(make_config(), tuning={"crowd_share": 0.25}))
    bench.epoch()
    assert bench.scheduler.recorder.state.tuning.crowd_share == 0.25
