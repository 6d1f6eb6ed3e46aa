"""Answers a question about the past from a decision log: `python -m slaq.sim.look_back`, the question on stdin.

A program of its own: reading and replaying take seconds of a core, which a scheduler does not have between two beats.
"""

import os
import resource
import sys
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from statistics import fmean

import msgspec

from slaq import policy
from slaq.engine import Allocated, JobEnded, JobJoined, JobReported
from slaq.engine.log import Epoch
from slaq.errors import SlaqError
from slaq.model import Job, Reason
from slaq.protocol.past import Held, Outcome, Past, PastJob, PastQuestion, PastSample, WhatIf
from slaq.sim.courses import courses
from slaq.sim.fared import Fared, compared, marks, mean, quality
from slaq.sim.past_log import PastLog, Stretch
from slaq.sim.what_if import Decided, play

MOST_SAMPLES = 400
"""Decisions in an answer; of more, an even choice."""
MOST_DRAWN = 20
"""Jobs in a sample, those with most cores."""
LONGEST_CPU_S = 60
"""CPU time for one answer."""
MOST_BYTES = 4 << 30
LONGEST_JOBS_S = 600.0
"""The jobs of more than this are not told one by one."""


def main() -> None:
    """Answer on stdout; a question that cannot be answered ends with a sentence on stderr and exit code 2."""
    _be_modest()
    try:
        question = msgspec.json.decode(sys.stdin.buffer.read(), type=PastQuestion)
        answer = what_if(question) if question.policy else past(question)
    except (SlaqError, OSError) as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except MemoryError:
        print("this time holds too many decisions for one answer; choose a shorter one", file=sys.stderr)
        sys.exit(2)
    sys.stdout.buffer.write(msgspec.json.encode(answer))


def past(question: PastQuestion) -> Past:
    """The decisions of a time."""
    with PastLog(Path(question.folder)) as log:
        stretches = log.stretches(question.from_at, question.until_at)
        if question.jobs and question.until_at - question.from_at > LONGEST_JOBS_S:
            raise SlaqError(f"jobs are told for {LONGEST_JOBS_S:.0f} s at most; choose a shorter time")
        whole = sum(map(len, stretches)) or 1
        samples = [
            _sample(at, _decided(epoch))
            for stretch in stretches
            for at, epoch in stretch.epochs(max(MOST_SAMPLES * len(stretch) // whole, 1))
        ]
        jobs = _jobs(stretches) if question.jobs else []
        return Past(log.begins_at, log.ends_at, policy.names(), samples, jobs)


def what_if(question: PastQuestion) -> WhatIf:
    """The same jobs under another policy."""
    policy.get(question.policy)
    with PastLog(Path(question.folder)) as log:
        stretches = log.stretches(question.from_at, question.until_at)
        if not stretches:
            raise SlaqError("no decision is on record in this time; choose another one")
        # A restart loses what the engine knew, so it ends what can be replayed.
        stretches = [each for each in stretches if each.file.life == stretches[-1].file.life]
        state = stretches[0].file.state_before(stretches[0].first)
        timed = list(chain.from_iterable(stretch.epochs() for stretch in stretches))
    epochs = [epoch for _, epoch in timed]
    shift_s = timed[-1][0] - epochs[-1].events[-1].now_s
    found = courses(state, epochs)
    same = play(state, epochs, found, None, _in_time)
    other = play(state, epochs, found, question.policy, _in_time)
    counted = [place for place, one in enumerate(found) if one.counted]
    if not counted:
        raise SlaqError(
            "no training job began and ended in this time, so there is nothing to compare; choose a longer time"
        )
    times_s = _grid(state.now_s, epochs[-1].events[-1].now_s)
    rows = [
        [Fared(found[place], jobs[place].told, jobs[place].ended_s) for place in counted]
        for jobs in (found, same.jobs, other.jobs)
    ]
    compared(rows)
    curves = [[quality(row, at_s) for at_s in times_s] for row in rows]
    reached = [marks(rows, share) for share in (0.9, 0.95, None)]
    names = (("recorded", state.policy), ("replayed", state.policy), ("what-if", question.policy))
    return WhatIf(
        shift_s + state.now_s,
        timed[-1][0],
        len(counted),
        sum(one.job.ml for one in found) - len(counted),
        [
            Outcome(what, name, to_90, to_95, to_end, sum(one.ended_s is None for one in row), mean(curve))
            for (what, name), to_90, to_95, to_end, row, curve in zip(names, *reached, rows, curves, strict=True)
        ],
        [shift_s + at_s for at_s in times_s],
        curves,
        [_sample(shift_s + each.now_s, each) for each in _thinned(same.decisions)],
        [_sample(shift_s + each.now_s, each) for each in _thinned(other.decisions)],
    )


def _grid(from_s: float, until_s: float) -> list[float]:
    return [from_s + (until_s - from_s) * step / (MOST_SAMPLES - 1) for step in range(MOST_SAMPLES)]


def _thinned(decisions: Sequence[Decided]) -> Sequence[Decided]:
    return decisions[:: max(-(-len(decisions) // MOST_SAMPLES), 1)]


def _decided(epoch: Epoch) -> Decided:
    cores = next((effect.decision.cores for effect in epoch.effects if isinstance(effect, Allocated)), {})
    return Decided(epoch.events[-1].now_s, cores)


def _sample(at: float, decided: Decided) -> PastSample:
    most = sorted(decided.cores.items(), key=lambda pair: -pair[1])[:MOST_DRAWN]
    cores = [Held(key, round(given, 3)) for key, given in most if given > 0.0]
    return PastSample(at, sum(decided.cores.values()), cores)


def _jobs(stretches: Sequence[Stretch]) -> list[PastJob]:
    """The jobs in the decisions of a time, as far as the log knows them."""
    told: dict[str, list[float]] = {}
    given: dict[str, list[float]] = {}
    reasons: dict[str, Reason] = {}
    ended: dict[str, str] = {}
    known: dict[str, Job] = {}
    for stretch in stretches:
        known |= stretch.file.state_before(stretch.first).jobs
    for _, epoch in chain.from_iterable(stretch.epochs() for stretch in stretches):
        for event in epoch.events:
            if isinstance(event, JobReported):
                losses = [report.loss for report in event.reports if report.loss is not None]
                told.setdefault(event.job_id, []).extend(losses)
            elif isinstance(event, JobJoined):
                known[event.job.id] = event.job
        for effect in epoch.effects:
            if isinstance(effect, JobEnded):
                ended[effect.job.id] = effect.job.life.state
            elif isinstance(effect, Allocated):
                reasons |= effect.decision.reasons
                for key, cores in effect.decision.cores.items():
                    given.setdefault(key, []).append(cores)
    return [
        PastJob(
            key, known[key].user, known[key].estimator, fmean(cores), min(cores), max(cores), len(told.get(key, ())),
            next(iter(told.get(key, ())), None), next(reversed(told.get(key, [])), None), ended.get(key, ""),
            str(reasons[key]),
        )
        for key, cores in given.items() if key in known
    ]  # fmt: skip


def _in_time() -> None:
    if time.process_time() > LONGEST_CPU_S:
        raise SlaqError(f"replaying this time takes more than {LONGEST_CPU_S} s of a core; choose a shorter one")


def _be_modest() -> None:
    """After everyone else, within limits, and gone when it cannot end."""
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CPU, (2 * LONGEST_CPU_S, 2 * LONGEST_CPU_S))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


if __name__ == "__main__":
    main()
