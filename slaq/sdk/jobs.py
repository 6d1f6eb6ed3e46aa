"""`slaq.job`, `slaq.report`, `slaq.should_stop`, `slaq.jobs`: the lines a user writes into a training loop.

They work everywhere: without Spark, without `attach`, in any thread. With a driver loop at work (`slaq.attach`, or the
plugin's sidecar) reports reach the scheduler, and the Spark jobs of the thread run in the job's own pool.
"""

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import SupportsFloat

from msgspec.structs import replace

from slaq.driver.early import EarlyRule
from slaq.driver.early import validated as validated_rule
from slaq.driver.notices import once
from slaq.errors import SlaqError
from slaq.protocol.names import sendable
from slaq.protocol.wishes import wished
from slaq.records import LARGEST_COUNT
from slaq.sdk.registry import REGISTRY
from slaq.sdk.reported import Declared, ReportedJob
from slaq.sdk.table import JobTable

LONGEST_GROUP = 200


def report(
    loss: SupportsFloat, iteration: int | None = None, higher_is_better: bool = False, **metrics: SupportsFloat
) -> None:
    """Tell SLAQ the loss after an iteration: the one line that a training loop of one's own needs.

    Iterations count by themselves unless numbered. Give an accuracy with `higher_is_better=True`; extra metrics are
    kept for `slaq.jobs()`. Outside of `with slaq.job(…)` the job is inferred: one per thread, from its first report
    until the thread ends, is silent for a minute, or counts its iterations anew. Never raises.
    """
    try:
        job = REGISTRY.current() or _inferred()
        if iteration is not None and job.inferred and iteration < job.iteration:
            REGISTRY.end(job)
            job = _inferred()
        if job.host is not REGISTRY.host:
            REGISTRY.move(job, REGISTRY.host)
        value = loss if type(loss) is float else _number(loss)
        job.add(-value if higher_is_better else value, iteration, metrics)
    except Exception as error:
        once("report", "slaq.report(%.60r) was ignored: %s; training goes on", loss, error)


@contextmanager
def job(
    name: str,
    *,
    weight: float = 1.0,
    target_loss: float | None = None,
    max_iterations: int | None = None,
    group: str = "",
    deadline: float | str | None = None,
    utility: str | Sequence[float] | None = None,
    kind: str | None = None,
    early: EarlyRule | str | None = None,
) -> Iterator[ReportedJob]:
    """Name the training run of this thread: `with slaq.job("sweep-7", weight=2, target_loss=0.31): …`.

    Losses reported inside belong to it, and so do MLlib fits, which inherit what is declared here. A loop that declares
    after how many iterations it ends at the latest is predicted better. `group` names jobs that belong together, as the
    candidates of a search. `deadline` is the time it should take at most ("20min", or seconds) and `utility` what its
    end is worth by the time: a preset's name or (worth, urgency per second, target in seconds). `kind` "te" is a trial,
    which gets in before best-effort jobs. `early` is "off", "tell" or "stop", or an EarlyRule. Without one of the last
    four the application's setting holds. Raises SlaqError at once for a value that makes no sense.
    """
    if not isinstance(name, str) or not name.strip():
        raise SlaqError(f"{name!r} cannot name a job; give a text")
    declared = _validated(name, weight, target_loss, max_iterations, group)
    try:
        declared = replace(declared, wish=wished(deadline, utility, kind))
    except SlaqError as error:
        raise SlaqError(f"job {name!r}: {error}") from None
    rule = EarlyRule(early) if isinstance(early, str) else early
    opened = REGISTRY.begin(declared, rule and validated_rule(rule))
    try:
        yield opened
    except BaseException as error:
        REGISTRY.end(opened, error)
        raise
    REGISTRY.end(opened)


def should_stop() -> bool:
    """Whether this thread's job should end now: good enough (early answer "stop"), out of budget, stopped or cancelled.

    Always false without any of these; outside of a job false too. Never raises.
    """
    try:
        job = REGISTRY.current()
        return job is not None and job.should_stop()
    except Exception as error:
        once("should_stop", "slaq.should_stop() could not judge (%r) and returns False", error)
        return False


def jobs() -> JobTable:
    """Every job of this application: the running ones, and the latest that ended. A list; in a notebook, a table."""
    own = {job.id: job.status() for job in REGISTRY.jobs()}
    host = REGISTRY.host
    known = {status.id: status for status in host.statuses()} if host is not None else {}
    return JobTable({**own, **known}.values())


def _inferred() -> ReportedJob:
    script = Path(sys.argv[0]).stem if sys.argv and sys.argv[0] not in ("", "-", "-c", "-m") else "python"
    opened = REGISTRY.begin(Declared(f"{script}.{threading.current_thread().name}", inferred=True))
    once(
        "inferred",
        "losses reported outside of `with slaq.job(name):` count as job %s, one job per thread",
        opened.id,
    )
    return opened


def _number(loss: SupportsFloat) -> float:
    if isinstance(loss, str | bytes | bool):
        raise SlaqError(f"a loss is a number, this is a {type(loss).__name__}")
    return float(loss)


def _validated(name: str, weight: float, target_loss: float | None, max_iterations: int | None, group: str) -> Declared:
    """What was declared, in the types that messages carry; a SlaqError names a value that makes no sense."""
    # Imported here: the model brings numpy, which reporting does without.
    from slaq.model import Job
    from slaq.model.job import validated

    if not isinstance(group, str) or len(group) > LONGEST_GROUP:
        raise SlaqError(f"job {name!r}: group is {group!r:.80}; give a text of at most {LONGEST_GROUP} characters")
    try:
        validated(Job(name, weight=weight, target_loss=target_loss, max_iterations=max_iterations))
        most = None if max_iterations is None else int(max_iterations)
        target = None if target_loss is None else float(target_loss)
        declared = Declared(name, False, float(weight), target, most, sendable(group))
    except (TypeError, ValueError, OverflowError):
        given = f"weight={weight!r}, target_loss={target_loss!r}, max_iterations={max_iterations!r}"
        raise SlaqError(f"job {name!r}: {given}; give numbers") from None
    if most is not None and most > LARGEST_COUNT:
        raise SlaqError(f"job {name!r}: max_iterations is {most}; give {LARGEST_COUNT} or less, or leave it out")
    return declared
