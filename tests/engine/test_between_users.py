"""Fairness between people first: a user's cores are decided before the policy divides them among the user's jobs."""

import io
import math
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from slaq import policy
from slaq.engine import Allocated, EpochEnded, JobJoined, PolicyFailed, State, UserDue, UsersChanged, run, step
from slaq.engine.between_users import decide_by_user
from slaq.engine.log import Epoch, epoch_piece, first_pieces, read, replayed
from slaq.errors import SlaqError
from slaq.model import Decision, Job, Snapshot
from tests.strategies import decided, snapshots

every_policy = pytest.mark.parametrize("name", policy.names())
dues = st.dictionaries(
    st.sampled_from("abc"),
    st.tuples(st.sampled_from([0.5, 1.0, 3.0]), st.sampled_from([0.5, 2.0, 7.0, math.inf])),
).map(lambda found: {user: UserDue(user, *rest) for user, rest in found.items()})


@st.composite
def owned(draw: st.DrawFn) -> Snapshot:
    """Any snapshot, its jobs those of up to three users."""
    snap = draw(snapshots())
    jobs = tuple(replace(job, user=draw(st.sampled_from("abc"))) for job in snap.jobs)
    return Snapshot(jobs, snap.cores, snap.outlook)


def divided(name: str, snap: Snapshot, users: dict[str, UserDue] | None = None) -> Decision:
    return decide_by_user(snap, policy.get(name), {}, users or {})[0]


def by_user(snap: Snapshot, decision: Decision) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for job in snap.jobs:
        found[job.user] += decision.cores[job.id]
    return dict(found)


def crowd(*counts: tuple[str, int], cores: int = 8, **declared: float) -> Snapshot:
    jobs = [Job(f"{user}-{i}", user=user, **declared) for user, count in counts for i in range(count)]
    return Snapshot(tuple(jobs), cores, policy_outlook(jobs))


def policy_outlook(jobs: list[Job]):
    from slaq.predict import look_ahead

    return look_ahead(jobs, 1.0)


@every_policy
def test_one_job_against_twenty_gets_half(name):
    snap = crowd(("a", 1), ("b", 20))
    assert by_user(snap, divided(name, snap)) == pytest.approx({"a": 4.0, "b": 4.0})


@every_policy
def test_users_share_by_weight(name):
    snap = crowd(("a", 2), ("b", 5), cores=12)
    found = by_user(snap, divided(name, snap, {"a": UserDue("a", weight=3.0)}))
    assert found == pytest.approx({"a": 9.0, "b": 3.0})


@every_policy
def test_a_limit_below_one_core_holds_and_the_rest_goes_to_others(name):
    snap = crowd(("a", 3), ("b", 1), cores=4)
    found = by_user(snap, divided(name, snap, {"a": UserDue("a", max_cores=0.5)}))
    assert found == pytest.approx({"a": 0.5, "b": 3.5})


@every_policy
def test_what_a_users_jobs_cannot_use_goes_to_others(name):
    snap = Snapshot((Job("a", user="a", max_cores=1.0), Job("b", user="b"), Job("c", user="c")), 9, policy_outlook([]))
    snap = Snapshot(snap.jobs, 9, policy_outlook(list(snap.jobs)))
    assert by_user(snap, divided(name, snap)) == pytest.approx({"a": 1.0, "b": 4.0, "c": 4.0})


@every_policy
def test_reserved_cores_come_before_the_fair_share(name):
    jobs = [Job("a", user="a", reserved_cores=6.0), *(Job(f"b-{i}", user="b") for i in range(3))]
    snap = Snapshot(tuple(jobs), 8, policy_outlook(jobs))
    assert by_user(snap, divided(name, snap)) == pytest.approx({"a": 6.0, "b": 2.0})


def test_reservations_beyond_all_cores_leave_something_to_users_without_one():
    jobs = [Job("a", user="a", reserved_cores=20.0), Job("b", user="b", reserved_cores=20.0), Job("c", user="c")]
    snap = Snapshot(tuple(jobs), 6, policy_outlook(jobs))
    found = by_user(snap, divided("finish-line", snap))
    assert found["a"] == pytest.approx(found["b"])
    assert 0.0 < found["c"] < 1.0
    assert sum(found.values()) == pytest.approx(6.0)


def test_a_group_counts_as_one_job_among_its_users_jobs():
    jobs = [Job("a", user="a"), *(Job(f"b-{i}", user="b", group="search") for i in range(4)), Job("b", user="b")]
    snap = Snapshot(tuple(jobs), 16, policy_outlook(jobs))
    decision = divided("fair", snap)
    assert by_user(snap, decision) == pytest.approx({"a": 8.0, "b": 8.0})
    assert decision.cores["b"] == pytest.approx(4.0)
    assert sum(decision.cores[f"b-{i}"] for i in range(4)) == pytest.approx(4.0)


def test_a_job_that_has_all_of_its_users_share_says_so():
    snap = crowd(("a", 1), ("b", 20))
    assert str(divided("finish-line", snap).reasons["a-0"]) == "4 cores: all of its user's share"


@every_policy
@given(snap=owned(), users=dues)
@settings(max_examples=60, deadline=None)
def test_bounds_hold_and_no_core_is_withheld(name, snap, users):
    decision = divided(name, snap, users)
    assert list(decision.reasons) == [job.id for job in snap.jobs]
    found = by_user(snap, decision)
    most = {
        user: min(
            sum(min(job.max_cores, snap.cores) for job in snap.jobs if job.user == user),
            users.get(user, UserDue(user)).max_cores,
        )
        for user in found
    }
    assert all(cores <= most[user] + 1e-6 for user, cores in found.items())
    assert all(0.0 <= decision.cores[job.id] <= job.max_cores + 1e-6 for job in snap.jobs)
    assert sum(found.values()) == pytest.approx(min(snap.cores, sum(most.values())), abs=1e-6)


@every_policy
@given(snap=owned(), users=dues)
@settings(max_examples=40, deadline=None)
def test_a_user_with_fewer_cores_per_weight_than_another_has_all_they_can_use(name, snap, users):
    snap = Snapshot(tuple(replace(job, reserved_cores=0.0) for job in snap.jobs), snap.cores, snap.outlook)
    found = by_user(snap, divided(name, snap, users))
    level = {user: cores / users.get(user, UserDue(user)).weight for user, cores in found.items()}
    for user, cores in found.items():
        if level[user] < max(level.values()) - 1e-6:
            useful = sum(min(job.max_cores, snap.cores) for job in snap.jobs if job.user == user)
            assert cores == pytest.approx(min(useful, users.get(user, UserDue(user)).max_cores), abs=1e-6)


@every_policy
@given(snap=snapshots())
@settings(max_examples=30, deadline=None)
def test_with_one_user_it_is_what_the_policy_decides(name, snap):
    assert divided(name, snap).cores == pytest.approx(decided(name, snap).cores)


def test_the_engine_shares_between_users_once_it_is_told_to():
    joined = [JobJoined(0.0, job) for job in crowd(("a", 1), ("b", 7)).jobs]
    state, effects = run(State(cores=8), [*joined, EpochEnded(1.0)])
    assert allocated(effects)["a-0"] == pytest.approx(1.0)
    state, effects = run(state, [UsersChanged(1.5, fair=True), EpochEnded(2.0)])
    assert not [effect for effect in effects if isinstance(effect, PolicyFailed)]
    assert allocated(effects)["a-0"] == pytest.approx(4.0)
    _, effects = run(state, [UsersChanged(2.5, fair=False), EpochEnded(3.0)])
    assert allocated(effects)["a-0"] == pytest.approx(1.0)


def test_users_share_fairly_even_while_the_predictor_is_broken():
    def broken(name):
        raise RuntimeError(name)

    joined = [JobJoined(0.0, job) for job in crowd(("a", 1), ("b", 7)).jobs]
    _, effects = run(State(cores=8), [*joined, UsersChanged(0.5, fair=True), EpochEnded(1.0)], broken)
    assert [effect for effect in effects if isinstance(effect, PolicyFailed)]
    assert allocated(effects)["a-0"] == pytest.approx(4.0)


@pytest.mark.parametrize("due", [UserDue("a", weight=0.0), UserDue("a", max_cores=-1.0), UserDue("a", math.nan)])
def test_a_user_due_that_makes_no_sense_is_refused_by_name(due):
    with pytest.raises(SlaqError, match="user 'a'"):
        step(State(cores=4), UsersChanged(0.0, True, (due,)))


def allocated(effects: list) -> dict[str, float]:
    return next(effect for effect in reversed(effects) if isinstance(effect, Allocated)).decision.cores


def test_a_log_that_begins_while_users_share_first_replays_to_the_same_decisions():
    joined = [JobJoined(0.0, job) for job in crowd(("a", 1), ("b", 7)).jobs]
    changed = UsersChanged(0.5, True, (UserDue("a", weight=2.0), UserDue("b", max_cores=3.0)))
    state, _ = run(State(cores=8), [*joined, changed, EpochEnded(1.0)])
    after, effects = run(state, [EpochEnded(2.0)])
    written = io.BytesIO(first_pieces(state) + epoch_piece(Epoch([EpochEnded(2.0)], effects)))
    ((epoch, again, decided),) = replayed(*read(written, "a log"))
    assert list(epoch.effects) == decided == effects
    assert (again.memory, again.users, again.fair_users) == (after.memory, after.users, True)
