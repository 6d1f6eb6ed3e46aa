"""What a plain install lacks: which extra brings a module that cannot be imported."""

import contextlib
from collections.abc import Iterator

from slaq.errors import SlaqError

EXTRAS = {
    "matplotlib": "report",
    "scipy": "bench",
    **dict.fromkeys(("httptools", "prometheus_client", "starlette", "uvicorn", "uvloop"), "scheduler"),
}
"""The extra of pyproject.toml that brings a module."""


@contextlib.contextmanager
def naming_the_extra(what: str) -> Iterator[None]:
    """Turn a failed import into a sentence that says what to install."""
    try:
        yield
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if module not in EXTRAS:
            raise
        raise SlaqError(f"{what} needs {module}; run: pip install 'slaq[{EXTRAS[module]}]'") from error
