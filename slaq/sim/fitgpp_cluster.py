"""FitGpp's cluster by events: nodes with several resources, grace periods, reservations, and one discipline at a time.

Disciplines: `fifo` (one queue, no preemption), `priority` (TE first, no preemption), `fitgpp`, and `lrtp`, `rand`
(longest remaining time, random) with `lrtp+p`, `rand+p`, which keep to P as well.
"""

import random
from collections import deque
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from slaq.model import FloatArray
from slaq.policy.victims import Running, VictimRules, scores, size, spared, victim
from slaq.sim.fitgpp_workload import NODE, FitGppSetting, Jobs

DISCIPLINES = ("fifo", "priority", "fitgpp", "lrtp", "rand", "lrtp+p", "rand+p")
CHECKPOINT_S = 600.0
"""Between two checkpoints, where work since the latest is lost."""


@dataclass
class Ticket:
    """Room on a node that a preemptor waits for."""

    job: int
    node: int
    victims: set[int]
    kept: FloatArray
    """Of the node's free resources, what nobody else may take meanwhile."""


@dataclass(frozen=True)
class Outcome:
    """What became of every job."""

    arrived_s: FloatArray
    first_s: FloatArray
    ended_s: FloatArray
    in_grace_s: FloatArray
    preemptions: FloatArray
    intervals_s: list[float]
    """From the end of a grace period to the next start."""
    fallbacks: int
    """TE jobs for which there was no candidate at least once."""
    overfull: float
    """The most by which a node was overcommitted; 0 unless there is a defect."""


class Cluster:
    """One run; `run` once."""

    def __init__(
        self, setting: FitGppSetting, jobs: Jobs, arrived_s: FloatArray | None, discipline: str, seed: int = 0
    ) -> None:
        """Without arrivals, the next job comes whenever the load is below the setting's."""
        count = len(jobs.te)
        self.setting, self.jobs, self.discipline = setting, jobs, discipline
        self.rules = VictimRules(
            grace_weight=setting.s, most_preemptions=setting.P, among_candidates=setting.normalise == "candidates"
        )
        self.limit = setting.P if discipline in ("fitgpp", "lrtp+p", "rand+p") else np.inf
        self.one_queue = discipline == "fifo" or setting.queue == "one"
        self.random = random.Random(seed)
        self.free = np.tile(NODE, (setting.nodes, 1))
        self.kept = np.zeros_like(self.free)
        self.left_s = jobs.exec_s.copy()
        self.arrived_s = np.full(count, np.nan) if arrived_s is None else arrived_s
        self.first_s, self.ended_s, self.began_s, self.out_s = (np.full(count, np.nan) for _ in range(4))
        self.in_grace_s, self.preemptions = np.zeros(count), np.zeros(count)
        self.node = np.full(count, -1)
        self.run_no = np.zeros(count, dtype=int)
        self.running: dict[int, None] = {}
        self.leaving: set[int] = set()
        self.te: deque[int] = deque()
        self.be: deque[int] = deque()
        self.tickets: dict[int, Ticket] = {}
        self.events: list[tuple[float, int, str, int, int]] = []
        self.order = self.next = 0
        self.fallbacks: set[int] = set()
        self.now_s = self.overfull = 0.0
        self.intervals_s: list[float] = []
        self.inside = np.zeros(3)

    def run(self) -> Outcome:
        """All jobs to their end."""
        closed = bool(np.isnan(self.arrived_s).any())
        if closed:
            self._submit()
        else:
            for job, at_s in enumerate(self.arrived_s.tolist()):
                self._at(at_s, "arrive", job)
        while self.events:
            self.now_s, _, kind, job, run_no = heappop(self.events)
            if kind == "arrive":
                self._arrive(job)
            elif run_no != self.run_no[job]:
                continue
            elif kind == "end":
                self.ended_s[job] = self.now_s
                self.inside -= self.jobs.demand[job]
                self._release(job)
            else:
                self._leave(job)
            self._schedule()
            if closed and kind != "arrive":
                self._submit()
            self.overfull = max(self.overfull, -float(self.free.min()))
        return Outcome(
            self.arrived_s, self.first_s, self.ended_s, self.in_grace_s, self.preemptions, self.intervals_s,
            len(self.fallbacks), self.overfull,
        )  # fmt: skip

    def _submit(self) -> None:
        """More jobs until the load is reached."""
        capacity = NODE * self.setting.nodes
        while self.next < len(self.jobs.te) and (self.inside / capacity).max() < self.setting.load:
            self.arrived_s[self.next] = self.now_s
            self._arrive(self.next)
            self.next += 1
        self._schedule()

    def _at(self, at_s: float, kind: str, job: int) -> None:
        self.order += 1
        heappush(self.events, (at_s, self.order, kind, job, int(self.run_no[job])))

    def _arrive(self, job: int) -> None:
        self.inside += self.jobs.demand[job]
        if self.one_queue and self.discipline != "fifo" and self.jobs.te[job] and self._place_te(job):
            return
        (self.te if self.jobs.te[job] and not self.one_queue else self.be).append(job)

    def _schedule(self) -> None:
        for ticket in [ticket for ticket in self.tickets.values() if not ticket.victims]:
            del self.tickets[ticket.job]
            self.kept[ticket.node] -= ticket.kept
            if self.setting.reservation == "node":
                self._start(ticket.job, ticket.node)
            elif not self._start_somewhere(ticket.job):
                self.te.appendleft(ticket.job)
        for job in list(self.te):
            if self._place_te(job):
                self.te.remove(job)
        if self.setting.blocking == "skip" and self.discipline != "fifo":
            self.be = deque([job for job in self.be if not self._start_somewhere(job)])
            return
        while self.be and self._start_somewhere(self.be[0]):
            self.be.popleft()

    def _place_te(self, job: int) -> bool:
        """Start a TE job or have victims make room for it; False: it waits."""
        if self._start_somewhere(job):
            return True
        if self.discipline == "priority":
            return False
        victims = self._victims(job)
        if not victims:
            return False
        node = int(self.node[victims[0]])
        ticket = self.tickets[job] = Ticket(job, node, set(victims), np.zeros(3))
        for each in victims:
            self._interrupt(each)
        self._keep(ticket)
        return True

    def _start_somewhere(self, job: int) -> bool:
        """On the node that is left with least, if one has room."""
        demand, room = self.jobs.demand[job], self.free - self.kept
        fits = (room >= demand - 1e-9).all(axis=1)
        if not fits.any():
            return False
        found = np.flatnonzero(fits)
        self._start(job, int(found[np.argmin(size(room[found] - demand, NODE))]))
        return True

    def _start(self, job: int, node: int) -> None:
        self.node[job], self.began_s[job] = node, self.now_s
        self.free[node] -= self.jobs.demand[job]
        if np.isnan(self.first_s[job]):
            self.first_s[job] = self.now_s
        else:
            self.intervals_s.append(self.now_s - float(self.out_s[job]))
        if not self.jobs.te[job]:
            self.running[job] = None
        self._at(self.now_s + float(self.left_s[job]), "end", job)

    def _release(self, job: int) -> None:
        node = int(self.node[job])
        self.free[node] += self.jobs.demand[job]
        self.run_no[job] += 1
        self.running.pop(job, None)
        self.leaving.discard(job)
        for ticket in self.tickets.values():
            if job in ticket.victims:
                ticket.victims.remove(job)
                self._keep(ticket)

    def _keep(self, ticket: Ticket) -> None:
        """What the victims that have not left yet will not bring is kept of what is free now."""
        if self.setting.reservation != "node":
            return
        coming = self.jobs.demand[list(ticket.victims)].sum(axis=0) if ticket.victims else np.zeros(3)
        self.kept[ticket.node] -= ticket.kept
        ticket.kept = np.maximum(self.jobs.demand[ticket.job] - coming, 0.0)
        self.kept[ticket.node] += ticket.kept

    def _interrupt(self, job: int) -> None:
        """The grace period begins: no progress, all resources kept."""
        grace_s, did_s = float(self.jobs.grace_s[job]), self.now_s - float(self.began_s[job])
        self.leaving.add(job)
        if self.setting.finish == "allow" and self.left_s[job] - did_s <= grace_s:
            return  # its end comes first
        self.run_no[job] += 1
        self.preemptions[job] += 1
        self.in_grace_s[job] += grace_s
        lost_s = {"none": 0.0, "checkpoint": did_s % CHECKPOINT_S, "all": did_s}[self.setting.lost]
        self.left_s[job] -= did_s - lost_s - self.setting.restart_s
        self._at(self.now_s + grace_s, "leave", job)

    def _leave(self, job: int) -> None:
        self._release(job)
        self.out_s[job] = self.now_s
        self.be.append(job) if self.setting.queue == "tail" else self.be.appendleft(job)

    def _victims(self, job: int) -> list[int]:
        """Jobs on one node that make room together; none if there are none."""
        at = np.fromiter(self.running, dtype=int, count=len(self.running))
        if not len(at):
            return []
        running = Running(
            self.jobs.demand[at],
            np.maximum((self.free - self.kept)[self.node[at]], 0.0),
            self.jobs.grace_s[at],
            self.preemptions[at],
            self.now_s - self.began_s[at],
            np.fromiter((each in self.leaving for each in at.tolist()), dtype=bool, count=len(at)),
        )
        if self.discipline == "fitgpp":
            found = victim(self.jobs.demand[job], running, NODE, self.rules)
            if found is not None:
                return [int(at[found])]
            self.fallbacks.add(job)
            if self.setting.fallback == "wait":
                return []
        legal = ~running.leaving & (running.preemptions < self.limit)
        if self.discipline == "fitgpp" and self.setting.fallback == "smallest":
            legal &= ~spared(running, self.rules)
            key = scores(running, NODE, self.rules, np.ones(len(at), dtype=bool))
        elif self.discipline.startswith("lrtp"):
            key = (self.now_s - self.began_s[at]) - self.left_s[at]  # longest remaining first
        else:
            key = np.array([self.random.random() for _ in at])
        return self._together(job, at[legal][np.argsort(key[legal], kind="stable")])

    def _together(self, job: int, ordered: FloatArray) -> list[int]:
        """The node of the first job, and jobs there in this order until there is room; the next node if that fails."""
        tried: set[int] = set()
        for first in ordered.tolist():
            node = int(self.node[first])
            if node in tried:
                continue
            tried.add(node)
            room, chosen = np.maximum(self.free[node] - self.kept[node], 0.0), []
            for each in ordered[self.node[ordered] == node].tolist():
                chosen.append(each)
                room = room + self.jobs.demand[each]
                if (room >= self.jobs.demand[job] - 1e-9).all():
                    return chosen
        return []
