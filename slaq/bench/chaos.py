"""`slaq bench chaos`: seeded runs until the time is over, and a table of the faults and of what they broke."""

import time
from collections import Counter, defaultdict
from typing import Any

import click

from slaq.bench._chaos.checks import CHECKS, violations
from slaq.bench._chaos.evidence import Evidence
from slaq.bench._chaos.faults import ALL, names, possible
from slaq.bench._chaos.plan import plan
from slaq.bench._chaos.run import run
from slaq.bench._output import emit, format_option

PER_FAULT_S = 1.0
"""Faults come about once a second, so that some are there together."""


@click.command(name="chaos")
@click.option("--minutes", default=5.0, show_default=True, help="Begin new runs for so long.")
@click.option("--runs", default=0, help="End after so many runs.  [default: when the time is over]")
@click.option("--seed", default=0, show_default=True, help="Of the first run; the next one has the next number.")
@click.option("--count", default=12, show_default=True, help="Faults in a run.")
@click.option("--faults", "wanted", type=click.Choice(names()), multiple=True, help="Only these; may be repeated.")
@format_option
def command(minutes: float, runs: int, seed: int, count: int, wanted: tuple[str, ...], output_format: str) -> None:
    """Break a scheduler, its agents, disk and network, and check what must hold.

    Every run has a real scheduler process and real agents in processes of their own, and draws its faults from its
    seed. Linux only; as root it also fills disks and makes them read-only.
    """
    facts = measure(minutes, runs, seed, count, frozenset(wanted))
    emit(output_format, facts, f"{facts['runs']} runs, {sum(facts['faults'].values())} faults", rows_of(facts))
    if facts["violations"]:
        raise SystemExit(1)


def measure(minutes: float, runs: int, seed: int, count: int, wanted: frozenset[str]) -> dict[str, Any]:
    """Run, and gather the facts."""
    kinds = possible(wanted)
    until_s = time.monotonic() + 60.0 * minutes
    faults: Counter[str] = Counter()
    felt_s: defaultdict[str, float] = defaultdict(float)
    checks = Counter(dict.fromkeys(CHECKS, 0))
    broken: list[str] = []
    seeds: list[int] = []
    jobs = reports = 0
    while time.monotonic() < until_s and (not runs or len(seeds) < runs):
        number = seed + len(seeds)
        span_s = count * PER_FAULT_S
        evidence = run(plan(number, count, span_s, [kind.plan for kind in kinds]), kinds)
        seeds.append(number)
        for fault in evidence.faults:
            faults[fault.kind] += 1
            felt_s[fault.kind] += fault.ended_s - fault.began_s
        jobs += len(evidence.lives)
        reports += sum(len(life.losses) for life in evidence.lives)
        for name, sentence in violations(evidence):
            checks[name] += 1
            broken.append(f"seed {number}: {name}: {sentence}")
            click.echo(broken[-1], err=True)
        click.echo(told(number, evidence, len(broken)), err=True)
    return {
        "runs": len(seeds),
        "seeds": seeds,
        "faults": dict(sorted(faults.items())),
        "felt_s": {name: round(seconds, 1) for name, seconds in felt_s.items()},
        "impossible": sorted({kind.plan.name for kind in ALL if not kind.possible()}),
        "jobs": jobs,
        "reports": reports,
        "checks": dict(checks),
        "violations": broken,
        "passed": not broken,
    }


def rows_of(facts: dict[str, Any]) -> list[dict[str, object]]:
    """The table: every fault with its count, every invariant with its violations."""
    faults = [("fault", name, times, facts["felt_s"][name]) for name, times in facts["faults"].items()]
    checks = [("violated", name, times, "") for name, times in facts["checks"].items()]
    return [dict(zip(("", "what", "times", "seconds"), row, strict=True)) for row in (*faults, *checks)]


def told(seed: int, evidence: Evidence, broken: int) -> str:
    """A line about a run."""
    took_s = evidence.ended_s - evidence.began_s
    return (
        f"seed {seed}: {len(evidence.faults)} faults, {len(evidence.lives)} jobs, {took_s:.0f} s, {broken} violations"
    )
