"""Pages are found, links lead somewhere, and names of keys and variables are real."""

import re
import tomllib
from pathlib import Path

import pytest

from slaq import policy
from slaq.config import load
from slaq.config.keys import BY_ENV, BY_SPARK, CONF_VARIABLE
from tests.docs.pages import NAMES, PAGES, ROOT, anchors, blocks, links

OF_A_SESSION = {"spark.slaq.name", "spark.slaq.group", "spark.slaq.targetLoss"}
"""Read from the session of a Connect client (`Sessions` in the bridge), and no keys of the configuration."""
README = ROOT / "README.md"


@pytest.mark.parametrize(("page", "target"), [pytest.param(*link, id=" -> ".join(link)) for link in links()])
def test_links_lead_somewhere(page: str, target: str) -> None:
    path, _, anchor = target.partition("#")
    found = ((ROOT / page).parent / path).resolve() if path else ROOT / page
    assert found.exists()
    assert found.is_relative_to(ROOT)
    assert not anchor or anchor in anchors(found)


def test_the_readme_is_short_and_names_the_two_commands() -> None:
    text = README.read_text("utf-8")
    assert len(text.splitlines()) <= 125
    assert {"make demo", "make test"} <= {line.split("  ")[0] for block in blocks() for line in block.text.splitlines()}
    assert "](docs/overview.png)" in text


def test_the_list_of_pages_names_every_page() -> None:
    listed = {target.partition("#")[0] for page, target in links() if page == "docs/README.md"}
    missing = {page.name for page in PAGES if page.parent != ROOT} - listed - {"README.md"}
    assert not missing, f"docs/README.md does not list {missing}"


@pytest.mark.parametrize("page", ["README.md", "docs/policies.md"])
def test_every_policy_has_a_row(page: str) -> None:
    rows = re.findall(r"^\| `([\w-]+)`", (ROOT / page).read_text("utf-8"), re.MULTILINE)
    assert set(policy.names()) <= set(rows)


@pytest.mark.parametrize("name", NAMES)
def test_keys_and_variables_exist(name: str) -> None:
    text = (ROOT / name).read_text("utf-8")
    keys = {key.rstrip(".") for key in re.findall(r"spark\.slaq\.[a-zA-Z.]*\w", text)}
    if name != "CHANGELOG.md":  # which also names those that are gone
        assert keys <= {*BY_SPARK, *OF_A_SESSION}
        assert set(re.findall(r"\bSLAQ_[A-Z_]*[A-Z]", text)) <= {*BY_ENV, CONF_VARIABLE}


@pytest.mark.parametrize("block", blocks("toml"), ids=str)
def test_configurations_are_accepted(block, tmp_path: Path) -> None:
    if "project" in tomllib.loads(block.text):
        return  # a pyproject.toml
    file = tmp_path / "slaq.toml"
    file.write_text(block.text, "utf-8")
    load(file, env={})
