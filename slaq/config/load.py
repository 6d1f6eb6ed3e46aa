"""The layers: defaults < conf file < environment < spark.slaq.* < flags, and the rules between keys."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from slaq.config.file import ConfFile
from slaq.config.keys import BY_ENV, BY_NAME, BY_SPARK, CONF_VARIABLE, KEYS, SECTIONS, USERS, find, suggestion
from slaq.config.record import Config
from slaq.config.tuning import TUNING, tuning_keys, tuning_value
from slaq.config.values import checked, default, from_text
from slaq.errors import SlaqError
from slaq.protocol.address import address_parts
from slaq.records import LOOPBACK

# Here, not at the first use: two threads that make msgspec know a type at the same time crash the process.
msgspec.json.Decoder(Config)

SPARK_PREFIX = "spark.slaq."
LEASE_EPOCHS = 3
"""A lease survives one lost beat and one late beat."""


def load(
    file: Path | str | None = None,
    *,
    env: Mapping[str, str] | None = None,
    spark: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> Config:
    """The configuration; a SlaqError names every problem, one per line, with its place and remedy.

    Without `file` the one that `default_file` finds is read, if there is one. `spark` is an application's whole Spark
    configuration. `flags` are by key name, texts or typed values; None means that the flag was not given.
    """
    env = os.environ if env is None else env
    layers = _Layers()
    path = Path(file) if file is not None else default_file(env)
    if path is not None:
        layers.add_file(ConfFile(path))
    layers.add_env(env)
    layers.add_spark(spark or {})
    layers.add_flags(flags or {})
    config = layers.config()
    for keys, problem in _contradictions(config):
        layers.problems.append(f"{_place(config, keys)}: {problem}")
    layers.raise_problems()
    return config


def default_file(env: Mapping[str, str]) -> Path | None:
    """The file named by SLAQ_CONF, or else slaq.toml in SPARK_CONF_DIR if it is there."""
    if env.get(CONF_VARIABLE):
        return Path(env[CONF_VARIABLE])
    candidate = Path(env["SPARK_CONF_DIR"], "slaq.toml") if env.get("SPARK_CONF_DIR") else None
    return candidate if candidate is not None and candidate.is_file() else None


def stray_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Variables that look like keys but are none, each with a remedy; no error, since others may use the prefix."""
    known = [*BY_ENV, CONF_VARIABLE]
    return {name: suggestion(name, known) for name in sorted(env) if name.startswith("SLAQ_") and name not in known}


class _Layers:
    """Values, their sources, and the problems found while collecting them."""

    def __init__(self) -> None:
        self.values: dict[str, Any] = {key.name: default(key) for key in KEYS if not key.name.startswith(f"{USERS}.")}
        self.users: dict[str, dict[str, Any]] = {}
        self.tuning: dict[str, float] = {}
        self.sources: dict[str, str] = {}
        self.problems: list[str] = []

    def add_file(self, file: ConfFile) -> None:
        for parts, value in _leaves(file.tables):
            name = ".".join(parts)
            key = find(name) if parts[0] != USERS or len(parts) == 3 else None
            place = file.where(parts)
            if parts[0] == TUNING and len(parts) == 2 and name in tuning_keys():
                self._put(name, place, f"{place}: {name}", tuning_value, value)
                continue
            if key is None:
                self.problems.append(f"{place}: unknown key {name}; {_remedy(parts)}")
                continue
            if key.rule.jvm:
                self.problems.append(
                    f"{place}: {name} is read inside the driver's JVM; set {key.spark} in Spark's configuration instead"
                )
                continue
            self._put(name, place, f"{place}: {name}", checked, key, value, file.path.parent)

    def add_env(self, env: Mapping[str, str]) -> None:
        for name, key in BY_ENV.items():
            if name in env:
                self._put(key.name, f"${name}", f"${name}", from_text, key, env[name])

    def add_spark(self, spark: Mapping[str, str]) -> None:
        for name in sorted(name for name in spark if name.startswith(SPARK_PREFIX)):
            key = BY_SPARK.get(name)
            if key is None:
                self.problems.append(f"{name}: unknown key; {suggestion(name, BY_SPARK)}")
            else:
                self._put(key.name, name, name, from_text, key, spark[name])

    def add_flags(self, flags: Mapping[str, object]) -> None:
        for name, value in flags.items():
            key = BY_NAME.get(name)
            if key is None:
                raise SlaqError(f"unknown key {name}; {suggestion(name, BY_NAME)}")
            if value is not None:
                read: Callable[..., Any] = from_text if isinstance(value, str) else checked
                self._put(name, "flag", f"flag for {name}", read, key, value)

    def _put(self, name: str, source: str, label: str, read: Callable[..., Any], *arguments: object) -> None:
        """Take the value that `read` makes of the arguments, or note what is wrong with it."""
        try:
            value = read(*arguments)
        except SlaqError as error:
            self.problems.append(f"{label} {error}")
            return
        if name.startswith(f"{USERS}."):
            user, field = name.removeprefix(f"{USERS}.").rsplit(".", 1)
            self.users.setdefault(user, {})[field] = value
        elif name.startswith(f"{TUNING}."):
            self.tuning[name.removeprefix(f"{TUNING}.")] = value
        else:
            self.values[name] = value
        self.sources[name] = source

    def config(self) -> Config:
        tree: dict[str, Any] = {USERS: self.users, TUNING: self.tuning, "sources": self.sources}
        for name, value in self.values.items():
            section, _, field = name.rpartition(".")
            (tree.setdefault(section, {}) if section else tree)[field] = value
        return msgspec.convert(tree, Config)

    def raise_problems(self) -> None:
        if self.problems:
            raise SlaqError("\n".join(self.problems))


def _leaves(tables: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every value with its path; a table counts as a value where the key is not a section."""
    for name, value in tables.items():
        path = (*above, name)
        if isinstance(value, dict) and ".".join(path) not in BY_NAME:
            yield from _leaves(value, path)
        else:
            yield path, value


def _remedy(parts: tuple[str, ...]) -> str:
    """What to write instead of an unknown key."""
    if len(parts) == 1 and parts[0] in (*SECTIONS, USERS, TUNING):
        return f"it is a section: write [{parts[0]}{'.NAME' if parts[0] == USERS else ''}] and its keys below"
    if parts[0] == TUNING:
        return suggestion(".".join(parts), tuning_keys())
    user = parts[1] if parts[0] == USERS and len(parts) > 1 else "NAME"
    return suggestion(".".join(parts), [key.name.replace(".NAME.", f".{user}.") for key in KEYS])


def _contradictions(config: Config) -> Iterator[tuple[tuple[str, ...], str]]:
    """Values that do not fit together: the keys concerned, and a sentence."""
    scheduler = config.scheduler
    if scheduler.lease_s < LEASE_EPOCHS * scheduler.epoch_s:
        yield (
            ("scheduler.lease_s", "scheduler.epoch_s"),
            f"scheduler.lease_s is {scheduler.lease_s:g} s with epochs of {scheduler.epoch_s:g} s; set it "
            f"(spark.slaq.lease) to {LEASE_EPOCHS * scheduler.epoch_s:g} or more, so that a late beat ends no grant",
        )
    if scheduler.capacity == "master" and not scheduler.master_url:
        yield (
            ("scheduler.capacity",),
            'scheduler.capacity is "master"; set scheduler.master_url to the master\'s web address as well',
        )
    if scheduler.host not in LOOPBACK and not (config.token_file or any(u.token_file for u in config.users.values())):
        yield (
            ("scheduler.host",),
            f"scheduler.host is {scheduler.host!r}, which others can reach; set token_file to a file with a token",
        )
    for name, user in config.users.items():
        if user.max_cores < 1.0 and scheduler.between_users != "fair":
            yield (
                (f"users.{name}.max_cores",),
                f"users.{name}.max_cores is {user.max_cores:g}, less than the one core that each job is due; set "
                'scheduler.between_users = "fair", or give 1 or more',
            )
    try:
        _ = config.wish
    except SlaqError as error:
        yield ("utility", "deadline_s"), str(error)
    if bool(scheduler.tls_cert) != bool(scheduler.tls_key):
        yield ("scheduler.tls_cert", "scheduler.tls_key"), "scheduler.tls_cert and scheduler.tls_key go together"
    endpoints = [("endpoint", address) for address in config.endpoint.split(",") if config.endpoint]
    for name, address in (*endpoints, ("scheduler.master_url", scheduler.master_url)):
        if (address or name == "endpoint") and address_parts(address.strip()) is None:
            yield (
                (name,),
                f"{name} is {address!r}; give an address that starts with http:// or https:// and names a host",
            )


def _place(config: Config, keys: tuple[str, ...]) -> str:
    """The source of the first of the keys that somebody set."""
    return next((config.source(key) for key in keys if key in config.sources), "default")
