"""Python in the documents compiles; what stands alone is run, in one Spark session if it wants one."""

import ast
import builtins
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

import slaq
from tests.docs.pages import Block, blocks
from tests.driver.session import start
from tests.packaging.beside import installed_beside

pytestmark = pytest.mark.spark
BLOCKS = blocks("python")


def free_names(text: str) -> set[str]:
    """The names that a program uses and does not bind, `import` included."""
    bound: set[str] = set(dir(builtins))
    used: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else bound).add(node.id)
        elif isinstance(node, ast.alias):
            bound.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            bound.add(node.name)
        elif isinstance(node, ast.arg):
            bound.add(node.arg)
    return used - bound


def complete() -> list[Block]:
    """The programs that bind all they use."""
    return [block for block in BLOCKS if not free_names(block.text)]


@pytest.fixture(scope="module")
def _spark() -> Iterator[None]:
    session: SparkSession = start()
    yield
    session.stop()


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_it_compiles(block: Block) -> None:
    compile(block.text, str(block), "exec", dont_inherit=True)


@pytest.mark.usefixtures("_spark")
@pytest.mark.parametrize("block", complete(), ids=str)
def test_what_stands_alone_runs(block: Block) -> None:
    try:
        exec(compile(block.text, str(block), "exec", dont_inherit=True), {"__name__": "__main__"})
        if "slaq.attach" in block.text:
            assert any(job.losses for job in slaq.jobs())
    finally:
        slaq.detach()


def test_the_policy_of_the_documentation_decides(tmp_path) -> None:
    (module,) = (block.text for block in BLOCKS if "stateless(" in block.text)
    program = """
from slaq.engine import CapacityChanged, EpochEnded, JobJoined, PolicyChanged, State, run
from slaq.model import Job

jobs = [Job("old"), Job("new", max_cores=3.0)]
events = [CapacityChanged(0.0, 5), PolicyChanged(0.0, "newest-first")]
events += [JobJoined(float(at), job) for at, job in enumerate(jobs)]
_, (allocated,) = run(State(), [*events, EpochEnded(2.0)])
print(allocated.decision.cores)
"""
    done = installed_beside(tmp_path, module, program, "newest-first")
    assert done.stdout == "{'old': 2.0, 'new': 3.0}\n", done.stderr
