"""Compile the Java half of SLAQ against the installed pyspark's own jars, into one jar inside the package.

Run it (`python jvm-bridge/build.py`) after a change of the Java sources; `pip install` runs it by itself. It needs the
standard library, a JDK and an installed pyspark, nothing else.
"""

import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path.insert(0, str(ROOT))

from contract import CONTRACT, contract  # noqa: E402 - beside this file, which is no package

SOURCES = ROOT / "src"
JAR = ROOT.parent / "slaq" / "spark" / "jars" / "slaq-bridge.jar"

# Spark 3.5 runs on Java 8, 11 and 17, Spark 4 on 17 and later; byte code of 11 serves all that are still maintained.
RELEASE = "11"
MANIFEST = """Manifest-Version: 1.0
Premain-Class: io.slaq.probe.Agent
Agent-Class: io.slaq.probe.Agent
Can-Retransform-Classes: true
"""
# Zip entries carry a date; a fixed one makes equal sources give an equal jar.
ENTRY_DATE = (1980, 1, 1, 0, 0, 0)


class BuildError(Exception):
    """The jar cannot be built here; the message says what is missing and how to get it."""


def find_javac() -> str:
    """The compiler of `JAVA_HOME` if that is set and is a JDK, else the one on the path."""
    home = os.environ.get("JAVA_HOME")
    if home and (Path(home) / "bin" / "javac").is_file():
        return str(Path(home) / "bin" / "javac")
    javac = shutil.which("javac")
    if javac is None:
        raise BuildError(
            "SLAQ's Spark bridge is compiled at installation and no Java compiler (javac) was found in JAVA_HOME "
            f"({home or 'unset'}) or on the PATH. Install a JDK, 17 or later (Debian and Ubuntu: "
            "openjdk-17-jdk-headless, Fedora: java-17-openjdk-devel, macOS: brew install openjdk@17), or set "
            "JAVA_HOME to one; a JRE is not enough."
        )
    return javac


def find_spark_jars() -> Path:
    """The folder of jars inside the installed pyspark, found without importing it."""
    spec = importlib.util.find_spec("pyspark")
    for location in (spec.submodule_search_locations or []) if spec else []:
        jars = Path(location) / "jars"
        if jars.is_dir():
            return jars
    raise BuildError(
        f"no pyspark with its jars is installed for {sys.executable}. Install it first: pip install pyspark"
    )


def compile_into(classes: Path) -> None:
    """Run javac over every source file; its messages go to the caller's stderr."""
    sources = sorted(str(path) for path in SOURCES.rglob("*.java"))
    if not sources:
        raise BuildError(f"no Java sources under {SOURCES}")
    command = [find_javac(), "--release", RELEASE, "-proc:none", "-encoding", "UTF-8", "-g"]
    # `-options` would warn about an old release, `-classfile` about Scala's own annotations; neither is ours to mend.
    command += ["-Xlint:all,-options,-classfile,-processing,-serial,-path", "-cp", str(find_spark_jars() / "*")]
    if subprocess.run([*command, "-d", str(classes), *sources], check=False).returncode != 0:
        raise BuildError(f"javac refused the sources under {SOURCES}; its messages are above")


def pack(classes: Path, jar: Path, promises: str) -> None:
    """Write the jar beside its place and move it there, so that a running build never shows half of one."""
    jar.parent.mkdir(parents=True, exist_ok=True)
    partial = jar.with_name(f".{jar.name}.{os.getpid()}")
    files = [(path.relative_to(classes).as_posix(), path) for path in classes.rglob("*.class")]
    with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("META-INF/MANIFEST.MF", ENTRY_DATE), MANIFEST)
        archive.writestr(zipfile.ZipInfo(CONTRACT, ENTRY_DATE), promises, zipfile.ZIP_DEFLATED)
        for name, path in sorted(files):
            entry = zipfile.ZipInfo(name, ENTRY_DATE)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, path.read_bytes())
    partial.replace(jar)


def build(jar: Path = JAR) -> Path:
    """Compile and pack everything under `src`; returns the path of the jar."""
    with tempfile.TemporaryDirectory(prefix="slaq-classes-") as classes:
        compile_into(Path(classes))
        pack(Path(classes), jar, contract(Path(classes), find_spark_jars()))
    return jar


if __name__ == "__main__":
    try:
        print(build())
    except BuildError as error:
        sys.exit(f"jvm-bridge/build.py: {error}")
