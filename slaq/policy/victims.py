"""Which job makes room for another: FitGpp's score over candidates that fit, each at most P times.

Columns, one row per running job that may be preempted; resources are the columns of the demands. A victim is small (it
fits somewhere again soon), has a short grace period (its preemptor waits for no longer than that), and alone leaves
enough room on its node (one victim per preemptor).
"""

from dataclasses import dataclass

import numpy as np
from msgspec import Struct

from slaq.model import BoolArray, FloatArray


class VictimRules(Struct, frozen=True, kw_only=True):
    """What a victim is chosen by."""

    grace_weight: float = 4.0
    """What the grace period counts relative to the size; 4 in the paper's main experiment, as far as is known."""
    most_preemptions: float = 1
    """A job is preempted at most this often; 1 likewise. Infinity: no limit."""
    least_run_s: float = 0.0
    """A job that started, or resumed, less than this ago is left alone."""
    among_candidates: bool = False
    """Normalise size and grace period by the candidates' largest instead of those of all running jobs."""


@dataclass(frozen=True, slots=True)
class Running:
    """The jobs that run and may be preempted."""

    demand: FloatArray
    """What each holds, by resource."""
    free: FloatArray
    """What is free on the node of each, reservations taken off, by resource."""
    grace_s: FloatArray
    preemptions: FloatArray
    """How often each was preempted before."""
    ran_s: FloatArray
    """Since its latest start."""
    leaving: BoolArray
    """Already in its grace period."""


def size(demand: FloatArray, capacity: FloatArray) -> FloatArray:
    """The Euclidean norm of demands as shares of a node's capacity; a resource that nodes lack does not count."""
    share = np.divide(demand, capacity, out=np.zeros(np.shape(demand)), where=capacity > 0.0)
    return np.asarray(np.sqrt((share * share).sum(axis=-1)))


def scores(jobs: Running, capacity: FloatArray, rules: VictimRules, among: BoolArray) -> FloatArray:
    """Size and grace period of every job, each relative to the largest `among` these; lower makes the better victim."""
    sizes = size(jobs.demand, capacity)
    return _relative(sizes, among) + rules.grace_weight * _relative(jobs.grace_s, among)


def spared(jobs: Running, rules: VictimRules) -> BoolArray:
    """Which jobs must not be chosen whatever they hold."""
    return jobs.leaving | (jobs.preemptions >= rules.most_preemptions) | (jobs.ran_s < rules.least_run_s)


def candidates(needed: FloatArray, jobs: Running, rules: VictimRules) -> BoolArray:
    """Which jobs may be chosen and would leave enough room, in every resource."""
    fits = (needed <= jobs.demand + jobs.free + 1e-9).all(axis=1)
    return np.asarray(fits & ~spared(jobs, rules))


def victim(needed: FloatArray, jobs: Running, capacity: FloatArray, rules: VictimRules) -> int | None:
    """The candidate with the lowest score; None if there is none.

    Ties go to the job that was preempted less often, then to the one that started later, then to the first row.
    """
    fit = candidates(needed, jobs, rules)
    if not fit.any():
        return None
    among = fit if rules.among_candidates else np.ones(len(fit), dtype=bool)
    score = scores(jobs, capacity, rules, among)
    found = np.flatnonzero(fit)
    order = np.lexsort((jobs.ran_s[found], jobs.preemptions[found], score[found]))
    return int(found[order[0]])


def _relative(values: FloatArray, among: BoolArray) -> FloatArray:
    """Values over the largest of some; zeros if that is 0."""
    most = float(values[among].max()) if among.any() else 0.0
    return values / most if most > 0.0 else np.zeros(len(values))
