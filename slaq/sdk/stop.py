"""`slaq.stop`: end a fit after the iteration under way and keep its model."""

from typing import Any

from slaq.driver.status import JobStatus
from slaq.driver.stopping import BY_USER
from slaq.driver.tracked import CUSTOM
from slaq.errors import SlaqError
from slaq.sdk.jobs import jobs
from slaq.sdk.registry import REGISTRY
from slaq.spark.records import ASKED, ASKED_BEFORE, UNKNOWN


def stop(job: Any, *, after_iterations: int = 0) -> str:
    """End a running job of this application early, with the model it has; returns a sentence that says so.

    `job` is an id or a name as in `slaq.jobs()`, an estimator's uid, or an object that has one of them (a JobStatus,
    an estimator). A fit of MLlib returns its model after the iteration under way, or once `after_iterations` are done;
    one that has not finished an iteration yet does so first. For a loop of one's own `slaq.should_stop()` becomes true.
    Of a job that was named with `slaq.job`, the fits that run inside it end too. Raises SlaqError for a job that is not
    running, is not the only one of that name, or cannot be stopped.
    """
    if type(after_iterations) is not int or not 0 <= after_iterations < 2**31:
        raise SlaqError(f"after_iterations is {after_iterations!r}; give a whole number, or 0 for the one under way")
    known = jobs()
    found = _only(job, known)
    if found.estimator == CUSTOM:
        own = next((each for each in REGISTRY.jobs() if each.id == found.id), None)
        if own is None:
            raise SlaqError(f"job {found.id} is reported by another process; stop it there, or with `slaq stop`")
        again = own.stop_after is not None and own.stop_after <= after_iterations
        own.stop_after = after_iterations if own.stop_after is None else min(after_iterations, own.stop_after)
        inside = [each for each in known if each.state == "running" and each.name.startswith(f"{found.name}/")]
        for fit in inside:
            _stop_fit(fit, after_iterations)
    else:
        again = _stop_fit(found, after_iterations) == ASKED_BEFORE
    title = found.id if found.id == found.name else f"{found.id} ({found.name})"
    if again:
        return f"{title} was asked to stop already"
    return f"{title} stops after {f'{after_iterations} iterations' if after_iterations else 'the iteration under way'}"


def _stop_fit(fit: JobStatus, after_iterations: int) -> str:
    host = REGISTRY.host
    answer = UNKNOWN if host is None else host.stop(fit.id, BY_USER, after_iterations)
    if answer == UNKNOWN:
        raise SlaqError(f"job {fit.id} ({fit.name}) has just ended; only running jobs can be stopped")
    if answer not in (ASKED, ASKED_BEFORE):
        raise SlaqError(f"job {fit.id} ({fit.name}) cannot be stopped early: {answer}")
    return answer


def _only(job: Any, known: list[JobStatus]) -> JobStatus:
    """The one running job that is meant."""
    asked = job if isinstance(job, str) else getattr(job, "id", None) or getattr(job, "uid", None)
    if not isinstance(asked, str):
        raise SlaqError(f"{job!r:.80} names no job; give an id or a name as in slaq.jobs(), or an estimator")
    by_id = [each for each in known if each.id == asked]
    meant = by_id or [each for each in known if asked in (each.name, each.name.rpartition("/")[2])]
    running = [each for each in meant if each.state == "running"]
    if len(running) == 1:
        return running[0]
    if running:
        ids = ", ".join(each.id for each in running)
        raise SlaqError(f"{len(running)} running jobs are called {asked!r}: {ids}; give one of these ids")
    if meant:
        raise SlaqError(f"job {asked!r} is over ({meant[-1].state}); only running jobs can be stopped")
    raise SlaqError(f"no job {asked!r} runs in this application; slaq.jobs() lists them")
