"""Every invariant accepts a run in which all went well, and names what contradicts it in one in which it did not."""

from dataclasses import replace

import pytest

from slaq.bench._chaos.checks import (
    CHECKS,
    capacity,
    decisions,
    finished,
    flat,
    history,
    orderly,
    replay,
    reports,
    violations,
    waiting,
)
from slaq.bench._chaos.evidence import Contact, Decision, Evidence, Injected, Kept, Life, Log, Sample, Watched

LOSSES = (1.0, 0.5, 0.25)


def life(app: str, began_s: float = 10.0, ended_s: float | None = 30.0, cores: float | None = 4.0) -> Life:
    return Life(
        app=app,
        job="1",
        full=4.0,
        expected_model=7.0,
        began_s=began_s,
        losses=LOSSES,
        cores=((began_s, cores),),
        ended_s=ended_s,
        model=None if ended_s is None else 7.0,
    )


def contact(app: str, **changes) -> Contact:
    renewed = tuple(10.0 + 0.2 * n for n in range(100))
    return replace(Contact(app, renewed_s=renewed, opened_s=(30.0,), delivered_s=30.0), **changes)


def well() -> Evidence:
    """Two applications, one job each, and a fault in the middle."""
    return Evidence(
        began_s=10.0,
        ended_s=30.0,
        capacity=8.0,
        epoch_s=0.2,
        lease_s=1.5,
        faults=(Injected("kill scheduler", 15.0, 15.5),),
        lives=(life("a"), life("b")),
        contacts=(contact("a"), contact("b")),
        history={"a-1": Kept("finished", 3, LOSSES), "b-1": Kept("finished", 3, LOSSES)},
        logs=(Log("decisions-1-000001.log", tuple(Decision(10.0 + 0.2 * n, {"a-1": 4.0}) for n in range(100))),),
        watched=(Watched("the scheduler", tuple(Sample(10.0 + n, 4, 20, 65.0) for n in range(20))),),
        files={"history.db": 1000, "lock": 0, "decisions-1-000001.log": 1000},
    )


def killed(at_s: float = 20.0) -> Evidence:
    """Application b was killed."""
    evidence = well()
    heard = tuple(10.0 + 0.2 * n for n in range(50))
    dead = contact("b", died_s=at_s, delivered_s=at_s, opened_s=(), renewed_s=heard)
    kept = {**evidence.history, "b-1": Kept("lost", 2, LOSSES[:2])}
    return replace(evidence, lives=(life("a"), life("b", ended_s=None)), contacts=(contact("a"), dead), history=kept)


def test_a_good_run_violates_nothing():
    assert violations(well()) == []
    assert violations(killed()) == []


def test_every_check_is_tried_below():
    modules = (finished, waiting, reports, capacity, history, decisions, replay, flat, orderly)
    assert [module.check for module in modules] == list(CHECKS.values())


@pytest.mark.parametrize(
    ("lives", "said"),
    [
        ((), "no job trained"),
        ((life("a", ended_s=None), life("b")), "job a-1 did not end"),
        ((replace(life("a"), model=8.0), life("b")), "model 8.0, without faults it is 7.0"),
    ],
)
def test_jobs_that_do_not_finish_or_have_another_model(lives, said):
    (sentence,) = finished.check(replace(well(), lives=lives))
    assert said in sentence


def test_a_job_of_a_process_that_was_killed_need_not_finish():
    assert finished.check(killed()) == []


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"renewed_s": (10.0, 20.0, 22.0, 24.0, 26.0), "opened_s": (28.0,)}, "held for 10.0 s by one answer"),
        ({"renewed_s": (10.0, 12.0, 21.0), "opened_s": (19.0, 22.0)}, "held for 7.0 s by one answer"),
        ({"opened_s": ()}, "never let its jobs go"),
        ({"renewed_s": (10.0, 11.0), "opened_s": (12.5,)}, "did not come back"),
    ],
)
def test_an_application_that_is_held_too_long_or_stays_away(changes, said):
    evidence = replace(well(), contacts=(contact("a", **changes), contact("b")))
    (sentence,) = waiting.check(evidence)
    assert said in sentence


def test_an_application_that_was_stopped_itself_is_not_held_by_the_scheduler():
    stopped = contact("a", renewed_s=(10.0, 20.0, 25.0, 28.0), silent=((11.0, 19.0), (20.5, 24.0)))
    assert waiting.check(replace(well(), contacts=(stopped, contact("b")))) == []


def test_an_application_that_keeps_its_cores_after_death():
    log = Log("decisions-1-000001.log", (Decision(28.0, {"a-1": 4.0, "b-1": 4.0}),))
    assert waiting.check(replace(killed(), logs=(log,))) == ["application b still had cores 8.0 s after it was killed"]
    late = replace(killed().contacts[1], delivered_s=27.0)
    assert waiting.check(replace(killed(), logs=(log,), contacts=(contact("a"), late))) == [], "a late beat excuses it"


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (Kept("finished", 2, LOSSES[:2]), "3 reports were made and 2 kept"),
        (Kept("finished", 4, (*LOSSES, 0.25)), "3 reports were made and 4 kept"),
        (Kept("finished", 4, LOSSES), "4 reports were counted, 3 are in its curve"),
        (Kept("finished", 3, (1.0, 0.4, 0.25)), "report 1 is 0.4"),
    ],
)
def test_reports_that_are_lost_doubled_or_of_another_job(kept, said):
    (sentence,) = reports.check(replace(well(), history={**well().history, "a-1": kept}))
    assert said in sentence


def test_reports_that_were_given_up_and_jobs_that_nobody_trained():
    gave_up = replace(well(), contacts=(contact("a", dropped=3), contact("b")))
    assert reports.check(gave_up) == ["application a gave up 3 reports"]
    ghost = replace(well(), history={**well().history, "c-1": Kept("finished", 0, ())})
    assert reports.check(ghost) == ["the history has job c-1, which nobody trained"]


def test_the_last_reports_of_an_application_that_was_killed_may_be_missing_but_none_may_be_new():
    assert reports.check(killed()) == []
    strange = {**killed().history, "b-1": Kept("lost", 2, (1.0, 0.4))}
    assert len(reports.check(replace(killed(), history=strange))) == 1


def test_more_cores_than_there_are():
    three = (*well().lives, life("c", began_s=22.0, cores=4.0))
    (sentence,) = capacity.check(replace(well(), lives=three))
    assert sentence.startswith("12 cores were held for 8.0 s")
    assert capacity.check(replace(well(), lives=(life("a", cores=None), life("b"), *three[2:]))), "unthrottled is all"


def test_more_cores_inside_the_window_of_a_fault_or_for_a_moment():
    window = (*well().lives, life("c", began_s=15.2, ended_s=18.0))
    assert capacity.check(replace(well(), lives=window)) == []
    assert capacity.check(replace(well(), lives=window, faults=(Injected("x", 15.0, 15.5, loosens=False),)))
    moment = (*well().lives, life("c", began_s=25.0, ended_s=26.0))
    assert capacity.check(replace(well(), lives=moment)) == []


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (None, "is not in the history"),
        (Kept("running", 3, LOSSES), "is running in the history although all is over"),
        (Kept("lost", 3, LOSSES), "is lost in the history; it finished"),
    ],
)
def test_jobs_that_the_history_lacks_or_has_wrong(kept, said):
    rest = {"b-1": well().history["b-1"]}
    (sentence,) = history.check(replace(well(), history=rest if kept is None else {**rest, "a-1": kept}))
    assert said in sentence


def test_a_damaged_database_excuses_what_ended_before_it():
    empty = replace(well(), history={})
    assert len(history.check(empty)) == 2
    assert history.check(replace(empty, history_since_s=31.0)) == []


def test_jobs_of_an_application_that_was_killed_are_lost_on_record():
    finished_kept = {**killed().history, "b-1": Kept("finished", 2, LOSSES[:2])}
    assert len(history.check(replace(killed(), history=finished_kept))) == 1
    without = {"a-1": well().history["a-1"]}
    assert len(history.check(replace(killed(), history=without))) == 1
    full = (Injected("full disk", 12.0, 19.0, loosens=False),)
    assert history.check(replace(killed(), history=without, faults=full)) == []


def test_decisions_that_are_late():
    gap = (Decision(10.0, {}), Decision(20.0, {}))
    evidence = replace(well(), logs=(Log("decisions-1-000001.log", gap),))
    assert decisions.check(evidence) == ["10.0 s passed between two decisions in decisions-1-000001.log"]
    assert decisions.check(replace(evidence, faults=(Injected("freeze scheduler", 11.0, 19.0),))) == []


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (Log("x", well().logs[0].decisions, differing=(3,)), "other decisions from epoch 3 on"),
        (Log("x", well().logs[0].decisions, error="no header"), "cannot be replayed: no header"),
        (Log("x"), "no decision was logged"),
    ],
)
def test_logs_that_do_not_replay(log, said):
    (sentence,) = replay.check(replace(well(), logs=(log,)))
    assert said in sentence
    damaged = (replace(log, damaged=True), *well().logs)
    assert replay.check(replace(well(), logs=damaged)) == []
    assert replay.check(replace(well(), logs=damaged[:1])) == [], "the only file may be the one that was damaged"
    assert replay.check(replace(well(), logs=())) == ["no decision was logged"]


@pytest.mark.parametrize(
    ("last", "said"),
    [
        (Sample(40.0, 400, 20, 65.0), "400 threads"),
        (Sample(40.0, 4, 900, 65.0), "900 open files"),
        (Sample(40.0, 4, 20, 465.0), "grew by 400 MB"),
    ],
)
def test_processes_that_grow(last, said):
    watched = replace(well().watched[0], samples=(*well().watched[0].samples, last))
    (sentence,) = flat.check(replace(well(), watched=(watched,)))
    assert said in sentence


@pytest.mark.parametrize(
    ("files", "said"),
    [
        (["core.1234"], "core.1234 lies in the state folder"),
        ([f"decisions-1-{n:06}.log" for n in range(1000)], "1000 files of the decision log"),
        (["history.db.damaged-1", "history.db.damaged-2"], "more than one damaged database"),
    ],
)
def test_files_that_pile_up(files, said):
    (sentence,) = flat.check(replace(well(), files=dict.fromkeys(files, 1)))
    assert said in sentence


def test_surprises_are_violations():
    assert violations(replace(well(), surprises=("it fell over",))) == [("processes behave", "it fell over")]
