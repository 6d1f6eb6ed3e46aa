"""The conf file with every key, its meaning and its default, shipped as `conf/slaq.toml`."""

import math
import textwrap
from collections.abc import Iterator

from slaq.config.keys import KEYS, SECTIONS, Key
from slaq.config.record import BudgetConfig, LimitsConfig, ProbeConfig, RetentionConfig, SchedulerConfig, UserConfig
from slaq.config.tuning import TUNING, tuning_docs, tuning_record
from slaq.config.values import wanted

WIDTH = 110
SECTION_RECORDS = (BudgetConfig, ProbeConfig, SchedulerConfig, LimitsConfig, RetentionConfig)
"""What holds the keys of each of SECTIONS."""
_HEAD = """\
SLAQ's configuration: every key with its default. Delete what you do not change.

Later sources win: default, this file, environment (SLAQ_…), Spark's configuration (spark.slaq.…), flag. \
`slaq conf check FILE` checks a file, `slaq conf show` shows where each value comes from. The file is the one given \
with --conf, the one named by SLAQ_CONF, or slaq.toml in SPARK_CONF_DIR. The scheduler reads it again on SIGHUP."""
_USERS = """\
One table per user, [users."*"] for users without one. Remove the "# " before the lines you need."""
_TUNING = """\
What predictions and policies are tuned with. The defaults were chosen by simulation; \
`slaq simulate` shows what another value does. Each takes a positive number. (since 0.2.0)"""


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
    for section, record in zip(SECTIONS, SECTION_RECORDS, strict=True):
        keys = [key for key in KEYS if key.name.startswith(f"{section}.")]
        yield from ("", "")
        yield from _comment(first_line(record))
        if not all(key.rule.jvm for key in keys):
            yield f"[{section}]"
        for key in keys:
            yield from _entry(key, key.name.removeprefix(f"{section}."))
    yield from ("", "")
    yield from _comment(f"{first_line(UserConfig)} {_USERS}")
    yield "# [users.alice]"
    for key in KEYS:
        if key.name.startswith("users."):
            yield from _entry(key, "# " + key.name.removeprefix("users.NAME."))
    yield from ("", "")
    yield from _tuning()


def _tuning() -> Iterator[str]:
    yield from _comment(_TUNING)
    yield f"# [{TUNING}]"
    defaults = tuning_record()()
    for field, doc in tuning_docs().items():
        yield ""
        yield from _comment(doc)
        yield f"# {field} = {literal(getattr(defaults, field))}"


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


def first_line(record: type) -> str:
    """What a record says of itself."""
    return (record.__doc__ or "").splitlines()[0]
