"""The plan of a run follows from its seed alone."""

from itertools import combinations

from slaq.bench._chaos.faults import ALL, possible
from slaq.bench._chaos.plan import PAUSE_S, Kind, plan

KINDS = [kind.plan for kind in ALL]


def test_the_same_seed_gives_the_same_faults_and_another_one_others():
    assert plan(7, 12, 12.0, KINDS) == plan(7, 12, 12.0, KINDS)
    assert plan(7, 12, 12.0, KINDS) != plan(8, 12, 12.0, KINDS)


def test_there_are_as_many_as_asked_for_inside_the_span_and_in_order():
    for seed in range(200):
        faults = plan(seed, 10, 12.0, KINDS)
        assert len(faults) == 10
        assert [fault.at_s for fault in faults] == sorted(fault.at_s for fault in faults)
        assert all(fault.at_s >= 0.0 and fault.end_s <= 12.0 for fault in faults)
        assert all(fault.kind.lasts_s[0] <= fault.lasts_s <= fault.kind.lasts_s[1] for fault in faults)


def test_a_part_has_one_fault_at_a_time_and_what_a_fault_needs_is_whole():
    for seed in range(200):
        for one, other in combinations(plan(seed, 12, 12.0, KINDS), 2):
            if {one.kind.part, *one.kind.needs} & {other.kind.part, *other.kind.needs}:
                assert one.end_s + PAUSE_S <= other.at_s or other.end_s + PAUSE_S <= one.at_s


def test_faults_of_different_parts_meet():
    assert any(
        one.at_s < other.end_s and other.at_s < one.end_s for one, other in combinations(plan(1, 12, 12.0, KINDS), 2)
    )


def test_every_kind_comes_up():
    counts = {kind.name: 0 for kind in KINDS}
    for seed in range(100):
        for fault in plan(seed, 12, 12.0, KINDS):
            counts[fault.kind.name] += 1
    assert min(counts.values()) > 10


def test_what_does_not_fit_is_left_out():
    kind = Kind("long", "one", (5.0, 5.0))
    assert len(plan(1, 10, 12.0, [kind])) <= 2
    assert plan(1, 10, 12.0, []) == []


def test_only_the_wanted_kinds_are_drawn():
    assert {kind.plan.name for kind in possible(frozenset({"clock jump"}))} == {"clock jump"}
