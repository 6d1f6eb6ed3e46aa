"""docs/releases.md says of this version what the sources say."""

import re
import tomllib
from pathlib import Path

import slaq
from slaq.engine import log
from slaq.protocol import PROTOCOL
from slaq.scheduler.store import schema

ROOT = Path(__file__).resolve().parents[2]


def test_the_version_has_one_value():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["version"] == slaq.__version__


def test_the_table_of_formats_tells_those_of_this_version():
    page = (ROOT / "docs" / "releases.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| {slaq.__version__} |")]
    assert [int(number) for number in re.findall(r"\| (?:format |schema )?(\d+)\b(?!\.)", row)] == [
        PROTOCOL,
        log.FORMAT,
        schema.VERSION,
    ]
