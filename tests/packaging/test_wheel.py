"""What `pip install .` gives works outside of the checkout: the wheel, an empty environment, another directory."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from tests import short_lived

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path) -> str:
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "SLAQ", "SPARK"))
    }
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | short_lived.JVM,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built by pip from the checkout, without isolation: an isolated build would fetch pyspark once more."""
    folder = tmp_path_factory.mktemp("wheel")
    build = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*build, "--wheel-dir", folder, ROOT, cwd=folder)
    return next(folder.glob("slaq-*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `slaq` command of a new environment that holds the wheel; what it depends on is borrowed from this one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    packages = next(home.glob("lib/python*/site-packages"))
    # Appended, so that the wheel wins; an editable install of the checkout here is a .pth too, which is not followed.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    python = home / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel, cwd=home)
    return home / "bin" / "slaq"


def test_the_wheel_carries_the_bridge_and_the_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in ("spark/jars/slaq-bridge.jar", "data/mllib-traces.json", "workload/page.js"):
        assert f"slaq/{needed}" in names
    for file in ("index.html", "main.js", "style.css", "icon.svg", "vendor/uPlot.iife.min.js", "vendor/uPlot.LICENSE"):
        assert f"slaq/scheduler/page/static/{file}" in names
    assert not any(name.startswith(("tests/", "jvm-bridge/")) for name in names)


def test_the_installed_package_is_not_the_checkout(installed: Path, tmp_path: Path) -> None:
    program = "import slaq, slaq.spark.jar as j; print(slaq.__file__); print(j.jar_path())"
    for line in run(installed.with_name("python"), "-c", program, cwd=tmp_path).split():
        assert Path(line).is_relative_to(installed.parents[1])


def test_the_demo_runs_from_another_directory(installed: Path, tmp_path: Path) -> None:
    tiny = ("--jobs", "2", "--gap", "0.1", "--rows", "0.02", "--length", "0.1", "--cores", "2", "--no-compare")
    said = run(installed, "demo", *tiny, cwd=tmp_path)
    assert "With SLAQ a job reached 90 % of its loss reduction" in said
    page = (tmp_path / "slaq-demo.html").read_text(encoding="utf-8")
    assert '"policy": "slaq"' in page
    assert "uPlot" in page
    assert page.rstrip().endswith("</html>")
