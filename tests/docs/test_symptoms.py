"""The messages that `docs/operations.md` explains are messages of the program."""

import re

import pytest

from tests.docs.pages import ROOT

OF_OTHERS = ("WARNING: Using", "netlib-blas:")
"""What the JVM says by itself."""
JOINED = re.compile(r'"\s*\n\s*(?:\+\s*|f)?"')
"""Where a sentence goes on in the next line of a source."""


def messages() -> list[str]:
    """The texts in the first column of the tables of symptoms."""
    text = (ROOT / "docs" / "operations.md").read_text("utf-8").partition("## Troubleshooting by symptom")[2]
    first = [line.split("|")[1] for line in text.splitlines() if line.startswith("|")]
    found = [message for cell in first for message in re.findall(r"`([^`]+)`", cell)]
    return [message for message in found if " " in message and not message.startswith((*OF_OTHERS, "slaq "))]


@pytest.fixture(scope="module")
def sources() -> str:
    files = [*(ROOT / "slaq").rglob("*.py"), *(ROOT / "jvm-bridge" / "src").rglob("*.java")]
    return JOINED.sub("", "\n".join(file.read_text("utf-8") for file in files)).replace("`", "")


@pytest.mark.parametrize("message", messages())
def test_it_is_in_the_sources(message: str, sources: str) -> None:
    # Values and names stand between the fixed parts.
    parts = [part.strip(" '();:") for part in re.split(r"…|'…'|\b\d+\b|\blocalhost,", message)]
    assert any(len(part) > 8 for part in parts)
    for part in parts:
        assert part in sources
