"""What a plain `pip install slaq` brings, and that it is enough for everything but the server and the figures."""

import re
import subprocess
import sys
from importlib.metadata import requires

PLAIN = {"pyspark", "numpy", "scipy", "msgspec", "click", "rich"}

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


def needed() -> dict[str, str]:
    """Every distribution the metadata names, and the extra that wants it ("" for none)."""
    found = {}
    for line in requires("slaq") or ():
        name, extra = re.match(r"[\w-]+", line), re.search(r"extra == ['\"](\w+)['\"]", line)
        found.setdefault(name[0], extra[1] if extra else "")
    return found


def test_a_plain_install_brings_six_packages():
    assert {name for name, extra in needed().items() if not extra} == PLAIN


def test_agent_doors_embedded_scheduler_and_commands_do_without_the_extras():
    extras = {name.replace("-", "_") for name, extra in needed().items() if extra}
    assert "uvicorn" in extras
    command = [sys.executable, "-c", EVERYTHING_PLAIN, *extras]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "its own scheduler" in done.stdout


def test_the_server_says_which_extra_it_needs(tmp_path):
    program = "import sys; sys.modules['uvicorn'] = None; from slaq.cli import main; main()"
    command = [sys.executable, "-c", program, "scheduler", "--port", "0", "--state-dir", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 2
    assert "pip install 'slaq[scheduler]'" in done.stderr
