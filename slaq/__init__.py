"""SLAQ: quality-driven scheduling of machine-learning training jobs on unmodified Apache Spark.

Importing this module starts nothing and imports no Spark; the names below are imported when they are first used.
"""

from typing import TYPE_CHECKING, Any

from slaq.errors import SlaqError

if TYPE_CHECKING:
    from slaq.driver.early import EarlyRule
    from slaq.driver.status import JobStatus
    from slaq.sdk.attach import attach, detach
    from slaq.sdk.jobs import job, jobs, report, should_stop
    from slaq.sdk.stop import stop
    from slaq.sdk.watch import watch
    from slaq.tuning.search import search

__version__ = "0.2.0"

__all__ = [
    "EarlyRule",
    "JobStatus",
    "SlaqError",
    "__version__",
    "attach",
    "detach",
    "job",
    "jobs",
    "report",
    "search",
    "should_stop",
    "stop",
    "watch",
]

_HOMES = {
    "EarlyRule": "slaq.driver.early",
    "JobStatus": "slaq.driver.status",
    "attach": "slaq.sdk.attach",
    "detach": "slaq.sdk.attach",
    "job": "slaq.sdk.jobs",
    "jobs": "slaq.sdk.jobs",
    "report": "slaq.sdk.jobs",
    "search": "slaq.tuning.search",
    "should_stop": "slaq.sdk.jobs",
    "stop": "slaq.sdk.stop",
    "watch": "slaq.sdk.watch",
}


def __getattr__(name: str) -> Any:
    import importlib

    if name not in _HOMES:
        raise AttributeError(f"module 'slaq' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
