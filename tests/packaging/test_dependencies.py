"""What a plain `pip install slaq` brings, and what it is enough for: all but the server, baselines and figures."""

import os
import re
import subprocess
import sys
from importlib.metadata import requires

import pytest

from slaq.cli._extras import EXTRAS

PLAIN = {"pyspark", "numpy", "msgspec", "click", "rich"}

EVERYTHING_PLAIN = """
import importlib, pkgutil, sys
for name in sys.argv[1:]:
    sys.modules[name] = None  # importing it fails, as if it were not installed
import slaq, slaq.agent, slaq.cli
from slaq.config import Config
from slaq.driver.connect import Connection
for module in pkgutil.iter_modules(slaq.cli.__path__):
    if module.name != "__main__":
        importlib.import_module(f"slaq.cli.{module.name}")
slaq.attach, slaq.report
with Connection(Config(), "app", "user") as connection:
    print(connection)
"""


def needed_by(module: str) -> set[str]:
    """The extras that bring a module."""
    lines = [line for line in requires("slaq") or () if re.match(rf"{module.replace('_', '-')}\b", line)]
    return {extra for line in lines for extra in re.findall(r"extra == ['\"](\w+)['\"]", line)}


def needed() -> dict[str, str]:
    """Every distribution the metadata names, and the extra that wants it ("" for none)."""
    found = {}
    for line in requires("slaq") or ():
        name, extra = re.match(r"[\w-]+", line), re.search(r"extra == ['\"](\w+)['\"]", line)
        found.setdefault(name[0], extra[1] if extra else "")
    return found


def test_a_plain_install_brings_five_packages():
    assert {name for name, extra in needed().items() if not extra} == PLAIN


def test_agent_driver_embedded_scheduler_and_commands_do_without_the_extras():
    extras = {name.replace("-", "_") for name, extra in needed().items() if extra}
    assert "uvicorn" in extras
    command = [sys.executable, "-c", EVERYTHING_PLAIN, *extras]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "its own scheduler" in done.stdout


@pytest.mark.parametrize(
    ("missing", "command", "sentence"),
    [
        ("uvicorn", ("scheduler", "--port", "0"), "`slaq scheduler` needs uvicorn; run: pip install 'slaq[scheduler]'"),
        ("scipy", ("bench", "predict"), "`slaq bench predict` needs scipy; run: pip install 'slaq[bench]'"),
        ("matplotlib", ("figures", "--out", "x"), "figures need matplotlib; run: pip install 'slaq[report]'"),
    ],
)
def test_a_command_says_which_extra_it_needs(tmp_path, missing, command, sentence):
    program = f"import sys; sys.modules[{missing!r}] = None; from slaq.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, *command],
        cwd=tmp_path,
        env=os.environ | {"SLAQ_SCHEDULER_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (2, f"slaq: {sentence}\n")


def test_every_extra_that_is_named_is_one():
    extras = {module: needed_by(module) for module in EXTRAS}
    assert all(EXTRAS[module] in found for module, found in extras.items()), extras


def test_a_driver_loads_nothing_that_only_measurements_or_servers_need():
    program = (
        "import sys, slaq.sdk.attach, slaq.driver.loop, slaq.driver.sidecar, slaq.scheduler.embedded\n"
        "print(*sys.modules, sep='\\n')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.split())
    assert "slaq.scheduler.embedded" in loaded
    heavy = {*EXTRAS, "rich", "click", "slaq.bench", "slaq.workload", "slaq.sim", "slaq.cli"}
    assert not loaded & heavy
