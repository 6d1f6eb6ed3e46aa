"""Slots, tasks and rules: nothing is run twice, no slot is used twice, and the order is the rule's."""

from collections import Counter

import pytest

from slaq.errors import SlaqError
from slaq.model import DEFAULTS
from slaq.sim.decisions import FRESH, Pace
from slaq.sim.disciplines import RULES, SPARKS_OWN
from slaq.sim.fluid import decided, ideal
from slaq.sim.machine import Machine
from slaq.sim.pool import Pool
from slaq.sim.script import Script, Shown, Step, script
from slaq.sim.streams import Follow, Stream, names, play, result, shaken, without_pauses


def job(name: str, arrival_s: float = 0.0, task_s: float = 0.1, iterations: int = 12, pause_s: float = 0.02) -> Script:
    """A job of four tasks an iteration whose loss halves with each."""
    steps = tuple(Step(pause_s, (task_s,) * 4) for _ in range(iterations))
    losses = tuple(Shown(place + 1, 0.001, 0.5**place) for place in range(iterations))
    return Script(name, arrival_s, steps, losses, 0.01, name, "LogisticRegression", iterations)


STREAM = Stream((job("b"), job("a", 0.3, 0.03), job("c", 1.0, 0.2, 6), job("d", 1.1, 0.02, 20)), 2)


@pytest.mark.parametrize("name", [*SPARKS_OWN, "finish-line", "fair", "clairvoyant", "ideal"])
def test_every_job_shows_all_its_losses_and_ends(name: str) -> None:
    courses = play(STREAM, name)
    for course in courses:
        assert len(course.times_s) == len(course.script.losses)
        assert list(course.times_s) == sorted(course.times_s)
        assert course.script.arrival_s <= course.times_s[0] <= course.times_s[-1] <= course.ended_s
    work = sum(one.work_after()[-1] for one in STREAM.scripts)
    assert max(course.ended_s for course in courses) >= work / 2 - 1e-6


@pytest.mark.parametrize("name", sorted({*RULES, *SPARKS_OWN}))
def test_slots_are_never_overbooked_and_every_task_runs_once(name: str) -> None:
    launched: Counter[str] = Counter()
    running: list[int] = [0]

    def observe(_now_s: float, pool: Pool, started: bool) -> None:
        running.append(running[-1] + (1 if started else -1))
        launched[pool.name] += started

    follow = Follow()
    decisions = None if name in SPARKS_OWN else follow.decisions("finish-line", 2)
    Machine(STREAM.scripts, 2, {**RULES, **SPARKS_OWN}[name], decisions, observe=observe).run()
    assert 0 <= min(running) <= max(running) <= 2
    assert running[-1] == 0
    assert launched == {one.name: sum(len(step.tasks_s) for step in one.steps) for one in STREAM.scripts}


def test_one_job_alone_takes_its_pauses_and_half_its_work_on_two_slots() -> None:
    alone = Stream((job("a", iterations=10),), 2)
    (course,) = play(alone, "spark-fair")
    assert course.ended_s == pytest.approx(10 * (0.02 + 0.2) + 0.01)
    (ideally,) = ideal(alone.scripts, 2, DEFAULTS)
    assert ideally.ended_s == pytest.approx(2.0)
    (unpaused,) = play(without_pauses(alone), "spark-fair")
    assert unpaused.ended_s == pytest.approx(2.0)


def test_sparks_fair_serves_the_fewest_running_then_by_name() -> None:
    one, other = Pool(job("b"), 0, waiting=[1.0]), Pool(job("a"), 1, waiting=[1.0])
    rule = SPARKS_OWN["spark-fair"].rule
    assert rule([one, other]) == (other, True)
    other.running = 1
    assert rule([one, other]) == (one, True)


def test_pools_that_are_owed_a_slot_come_in_the_schedulers_order_then_loans_in_that_order_too() -> None:
    rule = RULES["tokens"].rule
    first, second = (Pool(job(name), place, waiting=[1.0], granted=1.0) for place, name in enumerate("ab"))
    both = [first, second]
    first.standby, second.standby, first.tokens, second.tokens = 1, 0, 0.5, 0.5
    assert rule(both) == (second, True)
    second.tokens = -0.1
    assert rule(both) == (first, True)
    first.running = 1
    assert rule(both) == (second, False)
    first.granted = None
    assert rule(both) == (first, True)


def test_the_clairvoyant_brings_the_short_job_to_its_milestones_first() -> None:
    stream = Stream((job("long", task_s=0.5), job("short", task_s=0.01)), 2)
    long, short = play(stream, "ideal")
    assert short.ended_s == pytest.approx(short.script.work_after()[-1] / 2)
    assert long.times_s[0] > short.ended_s


def test_ideal_cores_with_the_engine_do_no_more_than_the_work() -> None:
    courses = decided(STREAM.scripts, Follow(FRESH).decisions("finish-line", 2))
    work = sum(one.work_after()[-1] for one in STREAM.scripts)
    assert work / 2 - 1e-6 <= max(course.ended_s for course in courses) < work / 2 + 1.0


def test_the_same_input_gives_the_same_result_and_another_seed_another() -> None:
    follow = Follow(Pace(epoch_s=0.25), "tokens")
    once, again = (result(play(STREAM, "finish-line", follow)) for _ in range(2))
    assert once == again
    assert shaken(STREAM, 0) == STREAM
    assert shaken(STREAM, 3) == shaken(STREAM, 3)
    assert result(play(shaken(STREAM, 3), "spark-fair")) != result(play(STREAM, "spark-fair"))


def test_a_script_leaves_out_what_a_job_waited_for() -> None:
    stages = [(1.0, (3.0, 3.1), (3.5, 3.4)), (3.6, (4.0,), (4.2,))]
    made = script("a", 0.5, 5.0, stages, [(3.55, 2.0), (4.25, 1.0)])
    assert made.steps[0].pause_s == pytest.approx(0.5)
    assert made.steps[0].tasks_s == pytest.approx((0.5, 0.3))
    assert made.steps[1].pause_s == pytest.approx(0.1)
    assert [shown.steps for shown in made.losses] == [1, 2]
    assert made.rest_s == pytest.approx(0.8)
    assert made.milestones() == pytest.approx((1.0, 1.0, 1.0))


def test_unknown_names_are_refused() -> None:
    with pytest.raises(SlaqError, match="unknown policy 'magic'"):
        play(STREAM, "magic")
    with pytest.raises(SlaqError, match="unknown rule 'magic'"):
        play(STREAM, "finish-line", Follow(rule="magic"))
    assert "finish-line" in names()
