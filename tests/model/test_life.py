"""The life of a job: every state, every move, and the diagram of both."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slaq.errors import SlaqError
from slaq.model.life import MOVES, REASONS, WAITS, Life, moved
from slaq.records import ENDINGS, LIVING

BACK = {"hold": "release", "exceed-quota": "meet-quota", "rest": "work", "preempt": "resume"}


def lived(*moves: str) -> Life:
    life = Life()
    for at_s, move in enumerate(moves, 1):
        life = moved(life, move, float(at_s))
    return life


def diagram() -> set[tuple[str, str, str]]:
    """(state, move, next state) of all that can happen, found by making every move from every life there is."""
    lives, found = [Life()], set()
    seen = {(Life().granted, Life().waits)}
    while lives:
        life = lives.pop()
        for move in MOVES:
            after = moved(life, move, 1.0)
            if after is not life:
                found.add((life.state, move, after.state))
            if not after.over and (after.granted, after.waits) not in seen:
                seen.add((after.granted, after.waits))
                lives.append(after)
    return found


def test_a_job_is_queued_runs_and_ends():
    assert lived().state == "queued"
    assert lived("grant").state == "running"
    assert lived("grant", "starve").state == "queued"
    assert lived("grant", "finish") == Life("finished", 2.0)


@pytest.mark.parametrize("move", BACK)
def test_a_cause_to_wait_takes_the_cores_and_its_end_queues_the_job_again(move):
    waiting = lived("grant", move)
    assert waiting.state in WAITS
    assert not waiting.granted
    assert lived("grant", move, BACK[move]).state == "queued"


def test_of_several_causes_the_first_one_shows_and_none_is_forgotten():
    assert lived("rest", "hold").state == "held"
    assert lived("rest", "hold", "release").state == "idle"
    assert lived("rest", "hold", "work").state == "held"
    assert lived("rest", "hold", "work", "release").state == "queued"


def test_a_move_that_changes_nothing_keeps_the_time_of_the_state():
    life = lived("grant")
    assert moved(life, "grant", 9.0) is life
    assert lived("hold", "rest").since_s == 1.0


@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("end", ["finish", "stop", "fail", "cancel", "lose"])
def test_an_ended_job_does_not_move(end, move):
    with pytest.raises(SlaqError, match=f"cannot {move}"):
        moved(lived(end), move, 1.0)


@given(st.lists(st.sampled_from([move for move in MOVES if move not in ("finish", "stop", "fail", "cancel", "lose")])))
def test_after_any_moves_the_state_follows_from_the_causes(moves):
    life = lived(*moves)
    assert life.state == (life.waits[0] if life.waits else "running" if life.granted else "queued")
    assert life.schedulable == (set(life.waits) <= {"preempted"})


def test_every_state_can_be_reached_and_has_a_reason():
    reached = {"queued", *(after for _, _, after in diagram())}
    assert reached == {*LIVING, *ENDINGS} == REASONS.keys()


def test_every_living_state_can_end_in_every_way():
    ends = {(before, after) for before, _, after in diagram() if after in ENDINGS}
    assert ends == {(before, after) for before in LIVING for after in ENDINGS}
