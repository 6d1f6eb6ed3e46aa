"""The claims of docs/security.md: each names a test that exists, and those that are about the sources hold."""

import ast
import re
import tomllib
from importlib.metadata import version
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
CLAIMS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))
SOURCES = sorted((ROOT / "slaq").rglob("*.py"))

MAKES_CODE = {"eval", "exec", "compile", "__import__"}
UNPICKLES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "yaml"}


@pytest.mark.parametrize(("file", "name"), CLAIMS)
def test_every_claim_names_a_test_that_exists(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_there_are_claims_and_every_row_of_who_can_do_what_has_one():
    assert len(CLAIMS) > 40
    table = PAGE.partition("## Who can do what at the scheduler")[2].partition("## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")][2:]
    assert len(rows) == 5
    assert all("::test_" in row for row in rows)


def makes_code(node: ast.AST) -> bool:
    """Whether a piece of a program runs or unpickles what it is given, or hands it to a shell."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in MAKES_CODE
        case ast.Import(names=names):
            return any(name.name.partition(".")[0] in UNPICKLES for name in names)
        case ast.ImportFrom(module=str(module)):
            return module.partition(".")[0] in UNPICKLES
        case ast.keyword(arg="shell"):
            return True
    return False


def test_no_code_is_made_from_data():
    assert len(SOURCES) > 300
    found = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if makes_code(node)
    }
    assert found == set()


def parts(text: str) -> list[int]:
    return [int(part) for part in text.split(".")[:2]]


def test_what_we_subclass_has_an_upper_bound():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (uvicorn,) = [line for line in project["optional-dependencies"]["scheduler"] if line.startswith("uvicorn")]
    low, high = re.findall(r"[<>]=?([\d.]+)", uvicorn)
    assert parts(low) < parts(version("uvicorn")) < parts(high)
