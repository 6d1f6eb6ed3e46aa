"""What all tests share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more about what else the machine is doing than about the code. In CI a build fails for
# its change and not for its luck, so examples are the same every time; everywhere else they go on exploring.
settings.register_profile("slaq", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("slaq")

PURE = {"config", "engine", "model", "policy", "predict", "protocol", "sim"}
"""Folders of tests that neither start anything nor wait for anything."""


def pytest_collection_modifyitems(items):
    """Tests of real processes and Spark wait for things to happen: on a machine that is busy with something else one
    of hundreds may wait in vain. It gets a second try, which the summary lists; a test of pure functions gets none."""
    for item in items:
        if item.path.relative_to(Path(__file__).parent).parts[0] not in PURE:
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))
