"""What is released works outside of the checkout: the wheel, the sdist, an empty environment, another directory."""

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from tests import short_lived

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]


def run(*command: str | Path, cwd: Path, **changes: str) -> str:
    left_out = ("PYTHON", "SLAQ", "SPARK", "JAVA")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | short_lived.JVM | changes,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def built_from(source: Path, folder: Path) -> Path:
    """The wheel that pip builds, without isolation: an isolated build would fetch pyspark once more."""
    build = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*build, "--wheel-dir", folder, source, cwd=folder)
    return next(folder.glob("slaq-*.whl"))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from the checkout."""
    return built_from(ROOT, tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution."""
    folder = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT)
    return next(folder.glob("slaq-*.tar.gz"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The `slaq` command of a new environment that holds the wheel; what it depends on is borrowed from this one."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, with_pip=False)
    packages = next(home.glob("lib/python*/site-packages"))
    # Appended, so that the wheel wins; an editable install of the checkout here is a .pth too, which is not followed.
    (packages / "borrowed.pth").write_text(sysconfig.get_path("purelib"))
    python = home / "bin" / "python"
    install = (python, "-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall", wheel)
    run(*install, cwd=home, PATH=str(home / "bin"))
    return home / "bin" / "slaq"


def test_the_wheel_carries_the_bridge_and_the_data(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in ("spark/jars/slaq-bridge.jar", "data/mllib-traces.json", "workload/page.js"):
        assert f"slaq/{needed}" in names
    for file in ("index.html", "main.js", "style.css", "icon.svg", "vendor/uPlot.iife.min.js", "vendor/uPlot.LICENSE"):
        assert f"slaq/scheduler/page/static/{file}" in names
    assert not any(name.startswith(("tests/", "jvm-bridge/")) for name in names)


def test_it_is_installed_and_runs_without_java(installed: Path, tmp_path: Path) -> None:
    path = str(installed.parent)
    assert shutil.which("java", path=path) is None
    assert "Run applications" in run(installed, "--help", cwd=tmp_path, PATH=path)
    said = run(installed, "version", "--endpoint", "http://127.0.0.1:9", cwd=tmp_path, PATH=path)
    (bridge,) = [line.split()[-1] for line in said.splitlines() if line.startswith("bridge")]
    assert Path(bridge).is_relative_to(installed.parents[1])
    assert Path(bridge).is_file()


def test_the_sdist_holds_all_sources_and_nothing_built(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    tracked = run("git", "ls-files", cwd=ROOT).split()
    assert {name for name in tracked if not name.startswith(".")} <= names
    assert not any(name.endswith((".jar", ".class", ".pyc")) for name in names)


def test_the_wheel_of_the_sdist_is_that_of_the_checkout_to_the_last_byte(
    sdist: Path, wheel: Path, tmp_path: Path
) -> None:
    again = built_from(sdist, tmp_path)
    with zipfile.ZipFile(again) as one, zipfile.ZipFile(wheel) as other:
        assert one.namelist() == other.namelist()
        assert [name for name in one.namelist() if one.read(name) != other.read(name)] == []
    assert again.read_bytes() == wheel.read_bytes()


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
