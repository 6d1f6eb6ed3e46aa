"""A short seeded run in which real processes break; the long series is `slaq bench chaos`."""

import json
import os

import pytest
from click.testing import CliRunner

from slaq.bench import chaos

pytestmark = pytest.mark.slow

FAULTS = (
    "kill scheduler", "kill agents", "freeze agents", "file size limit", "deleted database", "damaged log",
    "clock jump", "token rotation", "broken conf", "cut connections", "reordered messages", "garbage answers",
)  # fmt: skip


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks at processes through /proc")
def test_a_dozen_faults_violate_nothing():
    options = [part for fault in FAULTS for part in ("--faults", fault)]
    done = CliRunner().invoke(
        chaos.command, ["--runs", "1", "--seed", "11", "--count", "10", *options, "--format", "json"]
    )
    facts = json.loads(done.stdout)
    assert facts["violations"] == []
    assert done.exit_code == 0
    assert sum(facts["faults"].values()) == 10
    assert facts["jobs"] > 10
    assert facts["reports"] > 100
