"""What the documents hold: links, blocks of code, and commands to type."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

_FENCED = re.compile(r"^(?P<indent> *)```(?P<language>\w*)\n(?P<text>.*?)^ *```$", re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"^    (?P<command>(?:slaq|make|pip|python) .*)$", re.MULTILINE)
_SPAN = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    line: int
    language: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A line to type; in running text it may be a part of one."""

    page: str
    line: str
    whole: bool

    def __str__(self) -> str:
        return f"{self.page}: {self.line}"


def blocks(language: str | None = None) -> list[Block]:
    """All fenced blocks, or those of a language."""
    found = []
    for page, name in zip(PAGES, NAMES, strict=True):
        text = page.read_text("utf-8")
        for match in _FENCED.finditer(text):
            indent = match["indent"]
            body = "".join(line.removeprefix(indent) for line in match["text"].splitlines(keepends=True))
            found.append(Block(name, text[: match.start()].count("\n") + 1, match["language"], body))
    return [block for block in found if language in (None, block.language)]


def commands() -> list[Command]:
    """Every line to type, from blocks and from running text, each once."""
    found = [Command(block.page, line, True) for block in blocks() for line in _typed(block.text)]
    for page, name in zip(PAGES, NAMES, strict=True):
        text = _FENCED.sub("", page.read_text("utf-8"))
        found += [Command(name, match["command"], True) for match in _INDENTED.finditer(text)]
        spans = (" ".join(span.split()) for span in _SPAN.findall(text))
        found += [Command(name, span, False) for span in spans if re.match(r"(slaq|make|pip install|python) ", span)]
    return list(dict.fromkeys(found))


def links() -> Iterator[tuple[str, str]]:
    """Page and target of every link that does not leave the repository."""
    for page, name in zip(PAGES, NAMES, strict=True):
        for match in _LINK.finditer(page.read_text("utf-8")):
            if not match["target"].startswith(("http://", "https://")):
                yield name, match["target"]


def anchors(page: Path) -> set[str]:
    """The anchors that a hosting site makes of a page's headings."""
    headings = (re.sub(r"[`*_]", "", heading) for heading in _HEADING.findall(page.read_text("utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def _typed(text: str) -> Iterator[str]:
    """The commands of a block: lines that begin with one, joined where a backslash ends them."""
    for line in text.replace("\\\n", " ").splitlines():
        if re.match(r"(slaq|make|pip install|python) ", line.strip()):
            yield " ".join(line.split())
