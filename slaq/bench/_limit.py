"""The limit of a stream and where a policy lost time against it.

The limit is the clairvoyant on ideal cores with the policy's own values and the baseline's work. From there to what was
measured leads a chain of simulations of the recorded stream, each with one more thing that is not ideal; the factor
between two neighbours is what that thing costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from msgspec import Struct

from slaq.bench._ratio import Ratio, ratio_of_sums
from slaq.model import Tuning
from slaq.sim import fluid
from slaq.sim.decisions import FRESH, Pace
from slaq.sim.machine import Course
from slaq.sim.streams import Follow, Result, Stream, play, result, without_pauses
from slaq.workload import measures
from slaq.workload.replay import replayable, stream_of
from slaq.workload.results import StreamRun

MEASURES = {"t90_s": "t90", "t95_s": "t95", "end_s": "end"}


class Link(Struct, frozen=True):
    """One link of the chain: what it adds, the seconds with it, and the factor to the link before."""

    adds: str
    seconds: dict[str, float]
    """Mean over the rounds, by measure."""
    factor: dict[str, Ratio]


class Limit(Struct, frozen=True):
    """The clairvoyant's times, the regret, and the chain between the two; means over rounds, ratios of sums."""

    ideal: dict[str, float]
    regret: dict[str, Ratio]
    """Measured over ideal."""
    chain: list[Link]


def limit(
    runs: Sequence[StreamRun], bases: Sequence[StreamRun], policy: str | None, pace: Pace, tuning: Tuning, named: bool
) -> Limit | None:
    """Runs of one policy and the baseline's runs of the same rounds; `policy`: SLAQ's own, None for one of Spark's.

    None if something was not recorded.
    """
    pairs = [(run, base) for run, base in zip(runs, bases, strict=True) if replayable(run) and replayable(base)]
    if not pairs:
        return None
    own, based = [stream_of(run) for run, _ in pairs], [stream_of(base) for _, base in pairs]
    follow = Follow(pace, tuning=tuning, named=named)
    ideal = [result(play(stream, "ideal", follow)) for stream in based]
    measured = [_measured(run) for run, _ in pairs]
    links = [("held core-seconds beyond the baseline's", [result(play(stream, "ideal", follow)) for stream in own])]
    if policy is None:
        links.append(("its order, tasks and pauses", [result(play(s, pairs[0][0].policy, follow)) for s in own]))
    else:
        links += [(adds, [result(step(stream)) for stream in own]) for adds, step in _steps(policy, follow).items()]
    links.append(("not explained", measured))
    before, chain = ideal, []
    for adds, results in links:
        chain.append(Link(adds, _means(results), _ratios(results, before)))
        before = results
    return Limit(_means(ideal), _ratios(measured, ideal), chain)


def _steps(policy: str, follow: Follow) -> dict[str, Callable[[Stream], Sequence[Course]]]:
    """What is not ideal, one by one, and the simulation with it and all before it."""
    in_order = replace(follow, rule="order")
    return {
        "judgement": lambda s: fluid.decided(s.scripts, replace(follow, pace=FRESH).decisions(policy, s.cores)),
        "staleness": lambda s: fluid.decided(s.scripts, follow.decisions(policy, s.cores)),
        "whole tasks": lambda s: play(without_pauses(s), policy, in_order),
        "driver pauses": lambda s: play(s, policy, in_order),
        "obedience": lambda s: play(s, policy, follow),
    }


def _measured(run: StreamRun) -> Result:
    t90_s, t95_s = (measures.mean_time_to(run, share) for share in (0.90, 0.95))
    return Result(t90_s, t95_s, measures.mean_completion(run), run.makespan_s)


def _means(results: Sequence[Result]) -> dict[str, float]:
    return {name: sum(getattr(each, name) for each in results) / len(results) for name in MEASURES}


def _ratios(ours: Sequence[Result], theirs: Sequence[Result]) -> dict[str, Ratio]:
    return {
        name: ratio_of_sums([(getattr(a, name), getattr(b, name)) for a, b in zip(ours, theirs, strict=True)])
        for name in MEASURES
    }


def sentences(policy: str, found: Limit) -> list[str]:
    """For people."""
    ideal = ", ".join(f"{title} {found.ideal[name]:.3g} s" for name, title in MEASURES.items())
    regret = ", ".join(f"{title} ×{found.regret[name].value:.2f}" for name, title in MEASURES.items())
    lines = [f"{policy}: the clairvoyant on ideal cores: {ideal}; measured against it: {regret}; of which"]
    for link in found.chain:
        factors = ", ".join(f"{title} ×{link.factor[name].value:.2f}" for name, title in MEASURES.items())
        lines.append(f"    {link.adds}: {factors}")
    return lines
