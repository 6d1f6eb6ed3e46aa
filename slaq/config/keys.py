"""The table of all keys, derived from the records, and their names in the environment and in Spark's configuration."""

import difflib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

import msgspec

from slaq.config.record import Config, UserConfig
from slaq.config.rule import Rule

SECTIONS = ("budget", "probe", "scheduler", "limits", "retention")
USERS = "users"
DRIVERS = ("", "budget", "probe")
"""The sections that drivers read: all their keys have a name in Spark's configuration."""


@dataclass(frozen=True, slots=True)
class Key:
    """One key: `name` is its dotted path in the conf file, with NAME for a user's."""

    name: str
    kind: Any
    """bool, int, float, str or int | str."""
    default: Any
    rule: Rule

    @property
    def env(self) -> str | None:
        """Its variable in the environment; users' keys and those read in a driver's JVM have none."""
        if self.rule.jvm or self.name.startswith(f"{USERS}."):
            return None
        return "SLAQ_" + self.name.replace(".", "_").upper()

    @property
    def spark(self) -> str | None:
        """Its name in Spark's configuration, if drivers read it; a time loses its unit, which the value may carry."""
        section, _, field = self.name.rpartition(".")
        if section not in DRIVERS and not self.rule.driver:
            return None
        first, *rest = field.removesuffix("_s" if self.rule.time else "").split("_")
        name = first + "".join(word.capitalize() for word in rest)
        return ".".join(filter(None, ("spark.slaq", section if section in DRIVERS else "", name)))


def _keys(record: type[msgspec.Struct], prefix: str = "") -> Iterator[Key]:
    hints = get_type_hints(record, include_extras=True)
    for field in msgspec.structs.fields(record):
        annotation = get_args(hints[field.name])
        if annotation and isinstance(annotation[-1], Rule):
            yield Key(prefix + field.encode_name, annotation[0], field.default, annotation[-1])
        elif field.name in SECTIONS:
            yield from _keys(hints[field.name], f"{field.name}.")
        elif field.name == USERS:
            yield from _keys(UserConfig, f"{USERS}.NAME.")


KEYS: tuple[Key, ...] = tuple(_keys(Config))
BY_NAME = {key.name: key for key in KEYS}
BY_ENV = {key.env: key for key in KEYS if key.env}
BY_SPARK = {key.spark: key for key in KEYS if key.spark}

CONF_VARIABLE = "SLAQ_CONF"
"""Names the conf file; the only variable that is not a key."""


def find(name: str) -> Key | None:
    """The key with a dotted name; `users.alice.weight` is a key for any user."""
    parts = name.split(".")
    if len(parts) >= 3 and parts[0] == USERS:
        name = f"{USERS}.NAME.{parts[-1]}"
    return BY_NAME.get(name)


def suggestion(name: str, known: Iterable[str]) -> str:
    """The remedy for an unknown name: a known one that contains its last word, or that looks like it."""
    names = list(known)
    word = name.removeprefix("SLAQ_").rpartition(".")[2]
    near = [other for other in names if len(word) > 2 and word in other] or difflib.get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else "`slaq conf template` lists all keys"
