"""Records that several threads may be the first to use are known to msgspec as soon as their module is imported.

Two threads that make a type known at the same time crash the process: it is not a matter of an exception.
"""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("first_use.py")
TRIES = 4
"""One of five or so crashes if the type is not known in advance."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "record", [("slaq.agent.agent", "JobBeat"), ("slaq.scheduler.rows", "JobView"), ("slaq.config", "Config")]
)
def test_many_threads_may_be_the_first_to_use_a_record(record):
    command = [sys.executable, str(PROGRAM), *record]
    with ThreadPoolExecutor(2) as beside:
        done = list(beside.map(lambda _: subprocess.run(command, check=False).returncode, range(TRIES)))
    assert done == [0] * TRIES
