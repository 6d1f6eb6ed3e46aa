"""Every test begins with no jobs and no warnings given."""

import logging
from collections.abc import Iterator

import pytest

from slaq.driver import notices
from slaq.sdk.registry import REGISTRY, Registry


@pytest.fixture(autouse=True)
def _fresh(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    vars(REGISTRY).update({**vars(Registry()), "host": REGISTRY.host})
    notices.forget()
    caplog.set_level(logging.WARNING, logger="slaq")
    yield
    REGISTRY.end_inferred()
