"""Fixtures: scheduler processes that end with their test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.scheduler.support import Process


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Process]]:
    """Start scheduler processes; their state is in `tmp_path / "state"`."""
    running: list[Process] = []

    def launch(**options) -> Process:
        running.append(Process(tmp_path, **options))
        return running[-1]

    yield launch
    for process in running:
        process.close()
