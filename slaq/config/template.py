"""The conf file with every key, its meaning and its default, as `conf/slaq.toml` ships it."""

import math
import textwrap
from collections.abc import Iterator

from slaq.config.keys import KEYS, SECTIONS, Key
from slaq.config.record import LimitsConfig, ProbeConfig, RetentionConfig, SchedulerConfig, UserConfig
from slaq.config.values import wanted

WIDTH = 110
_HEAD = """\
SLAQ's configuration. Every key is here with its default; delete what you do not change.

A value comes from, in rising order: the default, this file, the environment (SLAQ_…), Spark's configuration \
(spark.slaq.…), a flag. `slaq conf check FILE` checks a file, `slaq conf show` tells where each value came from. \
It is found by --conf, by SLAQ_CONF, or as slaq.toml in SPARK_CONF_DIR. The scheduler reads it again on SIGHUP."""
_USERS = """\
One table for each, [users."*"] for everyone without one. Remove the "# " before the lines you need."""


def template() -> str:
    """The text of `conf/slaq.toml`."""
    return "\n".join(_lines()) + "\n"


def literal(value: object) -> str:
    """A value as TOML writes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return "inf" if math.isinf(value) else repr(value)
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def _lines() -> Iterator[str]:
    yield from _comment(_HEAD)
    yield ""
    yield from _comment("Drivers (unmodified applications, notebooks) and the command line.")
    for key in KEYS:
        if "." not in key.name:
            yield from _entry(key, key.name)
    records = (ProbeConfig, SchedulerConfig, LimitsConfig, RetentionConfig)
    for section, record in zip(SECTIONS, records, strict=True):
        keys = [key for key in KEYS if key.name.startswith(f"{section}.")]
        yield from ("", "")
        yield from _comment(_first_line(record))
        if not all(key.rule.jvm for key in keys):
            yield f"[{section}]"
        for key in keys:
            yield from _entry(key, key.name.removeprefix(f"{section}."))
    yield from ("", "")
    yield from _comment(f"{_first_line(UserConfig)} {_USERS}")
    yield "# [users.alice]"
    for key in KEYS:
        if key.name.startswith("users."):
            yield from _entry(key, "# " + key.name.removeprefix("users.NAME."))


def _entry(key: Key, name: str) -> Iterator[str]:
    yield ""
    limits = "" if key.kind is str and not key.rule.choices else f" Takes {wanted(key)}."
    names = ", ".join(other for other in (key.env, key.spark) if other)
    yield from _comment(f"{key.rule.doc}{limits}")
    yield from _comment(f"(since {key.rule.since}{'; ' if names else ''}{names})")
    if key.rule.jvm:
        yield from _comment(f"Only in Spark's configuration: {key.spark} {literal(key.default)}")
    else:
        yield f"{name} = {literal(key.default)}"


def _comment(text: str) -> Iterator[str]:
    for paragraph in text.splitlines():
        yield from (f"# {line}" for line in textwrap.wrap(paragraph, WIDTH)) if paragraph else ("#",)


def _first_line(record: type) -> str:
    return (record.__doc__ or "").splitlines()[0]
