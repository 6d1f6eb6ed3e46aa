"""The command line of `spark-submit` with SLAQ added to it, and nothing of the user's taken away."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slaq.errors import SlaqError
from slaq.spark.jar import PLUGIN, jar_path

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
PLUGINS = "spark.plugins"
PYTHON = "spark.slaq.python"

SWITCHES = frozenset(
    ["--help", "-h", "--supervise", "-s", "--usage-error", "--verbose", "-v", "--version", "--load-spark-defaults"]
)
"""The options of spark-submit that take no value; every other one takes one."""

_PROPERTY = re.compile(r"\s*(?P<key>[^\s=:#!][^\s=:]*)\s*[=:\s]\s*(?P<value>.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A spark-submit command line, cut in front of the application."""

    options: tuple[str, ...]
    application: tuple[str, ...]
    conf: Mapping[str, str]
    """What the options set, by Spark's key; the last one wins, as in Spark."""
    properties_file: str | None
    cluster: bool


def with_slaq(arguments: Sequence[str], environ: Mapping[str, str], spark_home: Path) -> list[str]:
    """The arguments with SLAQ's settings behind the user's options.

    Lists (plugins, Java options) are appended to, wherever the user's value comes from: the options, a properties file
    or spark-defaults.conf. A command without an application (`--version`, `--status`) is left as it is.
    """
    parsed = parse(arguments)
    if not parsed.application:
        return list(arguments)
    effective = {**file_conf(parsed.properties_file, environ, spark_home), **parsed.conf}
    plugins = effective.get(PLUGINS, "")
    if PLUGIN not in plugins:
        plugins = f"{plugins},{PLUGIN}" if plugins.strip() else PLUGIN
    java_options = effective.get(JAVA_OPTIONS, "")
    jar = jar_path()
    if jar.name not in java_options:
        agent = f"-javaagent:{jar}"
        java_options = f"{java_options} {quoted(agent)}".strip()
    added = ["--conf", f"{PLUGINS}={plugins}"]
    # The option, not the key: the option of the user would win over a key of ours.
    added += ["--driver-java-options", java_options]
    if PYTHON not in effective:
        added += ["--conf", f"{PYTHON}={sys.executable}"]
    return [*parsed.options, *added, *parsed.application]


def parse(arguments: Sequence[str]) -> Parsed:
    """Read a command line as spark-submit does: options up to the first word that is none."""
    conf: dict[str, str] = {}
    properties_file = None
    cluster = False
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        option, joined, value = arguments[at].partition("=")
        at += 1
        if option in SWITCHES:
            continue
        if not joined:
            if at == len(arguments):
                break  # spark-submit will say what is missing
            value = arguments[at]
            at += 1
        if option in ("--conf", "-c"):
            key, _, setting = value.partition("=")
            conf[key.strip()] = setting
        elif option == "--driver-java-options":
            conf[JAVA_OPTIONS] = value
        elif option == "--properties-file":
            properties_file = value
        elif option == "--deploy-mode":
            cluster = value == "cluster"
    return Parsed(tuple(arguments[:at]), tuple(arguments[at:]), conf, properties_file, cluster)


def file_conf(properties_file: str | None, environ: Mapping[str, str], spark_home: Path) -> dict[str, str]:
    """The settings of the properties file, or of spark-defaults.conf where spark-submit looks for it."""
    folder = environ.get("SPARK_CONF_DIR") or spark_home / "conf"
    path = Path(properties_file) if properties_file else Path(folder, "spark-defaults.conf")
    try:
        return dict(properties(path.read_text("utf-8")))
    except OSError as error:
        if properties_file:
            raise SlaqError(f"--properties-file {path} cannot be read: {error.strerror}") from None
        return {}


def properties(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values of a Java properties file; a backslash at the end of a line continues it."""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        found = _PROPERTY.match(line)
        if found:
            yield found["key"], found["value"]


def quoted(option: str) -> str:
    """One Java option as Spark splits them: in quotes if there is a space in it."""
    return f'"{option}"' if " " in option else option


def find_spark_home(environ: Mapping[str, str]) -> Path:
    """SPARK_HOME if it is set, else the distribution inside the installed pyspark."""
    if environ.get("SPARK_HOME"):
        home = Path(environ["SPARK_HOME"])
    else:
        import importlib.util

        spec = importlib.util.find_spec("pyspark")
        if spec is None or spec.origin is None:
            raise SlaqError("pyspark is not installed and SPARK_HOME is not set; run: pip install pyspark")
        home = Path(spec.origin).parent
    if not os.access(home / "bin" / "spark-submit", os.X_OK):
        raise SlaqError(f"{home} holds no bin/spark-submit; set SPARK_HOME to a Spark distribution")
    return home
