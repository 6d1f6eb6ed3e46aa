"""The reference of all keys as a page, `docs/configuration.md`: the content of the conf file, in tables."""

from collections.abc import Iterator

from slaq.config.keys import CONF_VARIABLE, KEYS, SECTIONS, USERS, Key
from slaq.config.record import UserConfig
from slaq.config.template import SECTION_RECORDS, first_line, literal
from slaq.config.tuning import TUNING, tuning_docs, tuning_record
from slaq.config.values import wanted

_HEAD = f"""\
# Configuration

This page is written by `slaq conf template --format markdown`; `slaq conf template` prints the same keys as a file to
edit, which is shipped as [conf/slaq.toml](../conf/slaq.toml).

A value comes from, later ones winning: its default, the conf file, the environment, Spark's configuration, a flag.
The conf file is the one given with `--conf`, the one named by `{CONF_VARIABLE}`, or `slaq.toml` in `SPARK_CONF_DIR`.
`slaq conf check FILE` checks a file, `slaq conf show` shows where each value comes from. The scheduler reads its file
again on SIGHUP.

In the environment a key is called `SLAQ_` and its name in capitals, with `_` for the dot: `scheduler.epoch_s` is
`SLAQ_SCHEDULER_EPOCH_S`. Keys marked ¹ have no variable."""
_DRIVERS = "Keys without a section are for drivers (unmodified applications, notebooks) and for the command line."
_USERS = 'One table per user, such as `[users.alice]`; `[users."*"]` is for users without one.'
_TUNING = """\
What predictions and policies are tuned with. The defaults were chosen by simulation; `slaq simulate --set NAME=VALUE`
shows what another value does. Each takes a positive number."""
_COLUMNS = "| key | default | in Spark's configuration | meaning | since |\n| --- | --- | --- | --- | --- |"


def reference() -> str:
    """The text of `docs/configuration.md`."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from (_HEAD, "", "## Drivers and commands", "", _DRIVERS, "", _COLUMNS)
    yield from (_row(key) for key in KEYS if "." not in key.name)
    for section, record in zip(SECTIONS, SECTION_RECORDS, strict=True):
        yield from ("", f"## `[{section}]`", "", first_line(record), "", _COLUMNS)
        yield from (_row(key) for key in KEYS if key.name.startswith(f"{section}."))
    yield from ("", f"## `[{USERS}.NAME]`", "", f"{first_line(UserConfig)} {_USERS}", "", _COLUMNS)
    yield from (_row(key) for key in KEYS if key.name.startswith(f"{USERS}."))
    yield from ("", f"## `[{TUNING}]`", "", _TUNING, "", "| key | default | meaning |\n| --- | --- | --- |")
    defaults = tuning_record()()
    for field, doc in tuning_docs().items():
        yield f"| `{field}` | {literal(getattr(defaults, field))} | {_cell(doc)} |"


def _row(key: Key) -> str:
    takes = "" if key.kind is str and not key.rule.choices else f" Takes {wanted(key)}."
    name = f"`{key.name}`" + ("" if key.env else " ¹")
    spark = f"`{key.spark}`" if key.spark else ""
    cells = (name, f"`{literal(key.default)}`", spark, _cell(key.rule.doc + takes), key.rule.since)
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
