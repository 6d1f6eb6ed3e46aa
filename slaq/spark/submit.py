"""The command line of `spark-submit` with SLAQ added to it, and nothing of the user's taken away."""

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from slaq.errors import SlaqError
from slaq.protocol.wishes import wished
from slaq.spark.jar import PLUGIN, jar_path

JAVA_OPTIONS = "spark.driver.extraJavaOptions"
PLUGINS = "spark.plugins"
PYTHON = "spark.slaq.python"

SWITCHES = frozenset(
    ["--help", "-h", "--supervise", "-s", "--usage-error", "--verbose", "-v", "--version", "--load-spark-defaults"]
)
"""The options of spark-submit that take no value; every other one takes one."""

WISHES = {"--deadline": "spark.slaq.deadline", "--utility": "spark.slaq.utility", "--te": "spark.slaq.class"}
"""SLAQ's own options, and the keys that they stand for."""

_PROPERTY = re.compile(r"\s*(?P<key>[^\s=:#!][^\s=:]*)\s*[=:\s]\s*(?P<value>.*?)\s*$")


@dataclass(frozen=True, slots=True)
class Parsed:
    """A spark-submit command line, cut in front of the application."""

    options: tuple[str, ...]
    application: tuple[str, ...]
    conf: Mapping[str, str]
    """What the options set, by Spark's key; the last one wins, as in Spark."""
    properties_file: str | None
    extra_files: tuple[str, ...]
    """More properties files; each wins over the ones before it."""
    load_defaults: bool
    """Read spark-defaults.conf also beside a properties file."""
    cluster: bool


def with_slaq(arguments: Sequence[str], environ: Mapping[str, str], spark_home: Path) -> list[str]:
    """The arguments with SLAQ's settings behind the user's options.

    Lists (plugins, Java options) are appended to, wherever the user's value comes from: the options, a properties file
    or spark-defaults.conf. A command without an application (`--version`, `--status`) is left as it is.
    """
    parsed = parse(in_keys(arguments))
    if not parsed.application:
        return [*parsed.options, *parsed.application]
    effective = {**file_conf(parsed, environ, spark_home), **parsed.conf}
    # Said here, not in a log: the driver would run without SLAQ.
    wished(*(effective.get(key) for key in WISHES.values()))
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


def in_keys(arguments: Sequence[str]) -> list[str]:
    """The command line with SLAQ's own options written as Spark's keys."""
    found: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        option, joined, value = rest.pop(0).partition("=")
        if option == "--te":
            found += ["--conf", f"{WISHES[option]}=te"]
            continue
        own = WISHES.get(option)
        if not joined and option not in SWITCHES and rest:
            value = rest.pop(0)
            found += ["--conf", f"{own}={value}"] if own else [option, value]
        elif own and not value:
            raise SlaqError(
                f"{option} needs a value, such as {option} {'20min' if own.endswith('line') else '1,0.5,600'}"
            )
        else:
            found += ["--conf", f"{own}={value}"] if own else [option + joined + value]
    return found + rest


def parse(arguments: Sequence[str]) -> Parsed:
    """Read a command line as spark-submit does: options up to the first word that is none."""
    conf: dict[str, str] = {}
    properties_file = None
    extra_files: list[str] = []
    load_defaults = cluster = False
    at = 0
    while at < len(arguments) and arguments[at].startswith("-"):
        option, joined, value = arguments[at].partition("=")
        at += 1
        if option in SWITCHES:
            load_defaults |= option == "--load-spark-defaults"
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
        elif option == "--extra-properties-file":
            extra_files.append(value)
        elif option == "--deploy-mode":
            cluster = value == "cluster"
    return Parsed(
        options=tuple(arguments[:at]),
        application=tuple(arguments[at:]),
        conf=conf,
        properties_file=properties_file,
        extra_files=tuple(extra_files),
        load_defaults=load_defaults,
        cluster=cluster,
    )


def file_conf(parsed: Parsed, environ: Mapping[str, str], spark_home: Path) -> dict[str, str]:
    """The settings of the files that spark-submit reads, the later winning as they do in Spark."""
    found: dict[str, str] = {}
    if parsed.properties_file is None or parsed.load_defaults:
        found |= _settings(Path(environ.get("SPARK_CONF_DIR") or spark_home / "conf", "spark-defaults.conf"))
    if parsed.properties_file is not None:
        found |= _settings(Path(parsed.properties_file), "--properties-file")
    for file in parsed.extra_files:
        found |= _settings(Path(file), "--extra-properties-file")
    return found


def _settings(path: Path, option: str = "") -> dict[str, str]:
    """The settings of one file; without an option that names it, it need not be there."""
    try:
        # Java, too, replaces bytes that are no UTF-8.
        return dict(properties(path.read_text("utf-8", "replace")))
    except OSError as error:
        if not option:
            return {}
        raise SlaqError(f"{option} {path} cannot be read: {error.strerror}") from None


def properties(text: str) -> Iterator[tuple[str, str]]:
    """Keys and values of a Java properties file."""
    for line in _logical_lines(text):
        found = _PROPERTY.match(line)
        if found:
            yield found["key"], found["value"]


def _logical_lines(text: str) -> Iterator[str]:
    """Lines as Java counts them: one that ends in a backslash goes on in the next, unless it is a comment."""
    begun = ""
    for line in re.split(r"\r\n|\r|\n", text):
        line = begun + line.lstrip(" \t\f")
        begun = ""
        if line.startswith(("#", "!")):
            continue
        if (len(line) - len(line.rstrip("\\"))) % 2:
            begun = line[:-1]
        else:
            yield line
    if begun:
        yield begun


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
