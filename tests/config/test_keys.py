"""The table of keys is the only place where a key is defined."""

import re
from pathlib import Path

import pytest
from msgspec.structs import asdict, replace

from slaq import __version__
from slaq.config import KEYS, load, template
from slaq.config.keys import BY_ENV, BY_SPARK
from slaq.config.values import checked
from slaq.model.tuning import DEFAULTS
from slaq.records import WEIGHTS

SHIPPED = Path(__file__).parents[2] / "conf" / "slaq.toml"


def test_the_shipped_file_is_what_the_table_says():
    assert SHIPPED.read_text("utf-8") == template(), "write it anew with `slaq conf template > conf/slaq.toml`"


def test_loading_the_shipped_file_gives_the_defaults():
    assert replace(load(SHIPPED, env={}), sources={}) == load(env={})


def test_the_users_table_of_the_shipped_file_loads_once_uncommented(tmp_path):
    text = SHIPPED.read_text("utf-8")
    head, users = text.split("# [tuning]")[0].split("# [users.alice]")
    entries = [line.removeprefix("# ") for line in users.splitlines() if re.match(r"# \w+ = ", line)]
    file = tmp_path / "slaq.toml"
    file.write_text("\n".join([head, "[users.alice]", *entries]), "utf-8")
    config = load(file, env={})
    assert config.users["alice"] == config.standing("nobody")


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_every_key_is_documented_with_a_default_in_its_own_range(key):
    assert key.rule.doc.endswith((".", "…"))
    assert key.rule.since <= __version__
    assert checked(key, key.default) is not None


def test_the_names_elsewhere_are_derived_and_unique():
    named = [key for key in KEYS if not key.name.startswith("users.") and not key.rule.jvm]
    assert len(BY_ENV) == len(named)
    assert BY_ENV["SLAQ_SCHEDULER_EPOCH_S"].name == "scheduler.epoch_s"
    assert BY_SPARK["spark.slaq.tokenFile"].name == "token_file"
    assert BY_SPARK["spark.slaq.probe.extraPasses"].name == "probe.extra_passes"


def test_every_key_that_the_drivers_jvm_reads_is_in_the_table():
    sources = (SHIPPED.parents[1] / "jvm-bridge" / "src").rglob("*.java")
    read = {name for source in sources for name in re.findall(r'"(spark\.slaq\.\w[\w.]*)"', source.read_text("utf-8"))}
    assert read <= BY_SPARK.keys()
    assert {name for name, key in BY_SPARK.items() if key.rule.jvm} <= read, "what only a JVM could read is read there"


def test_the_range_of_weights_is_that_of_the_decision_core():
    ranges = {(key.rule.low, key.rule.high) for key in KEYS if key.name.endswith("weight")}
    assert ranges == {WEIGHTS}


def test_what_the_scheduler_inside_a_driver_needs_has_a_short_name_in_sparks_configuration():
    names = {key.name: key.spark for key in KEYS if key.name.startswith("scheduler.") and key.spark}
    assert names == {
        "scheduler.epoch_s": "spark.slaq.epoch",
        "scheduler.lease_s": "spark.slaq.lease",
        "scheduler.policy": "spark.slaq.policy",
        "scheduler.prefer": "spark.slaq.prefer",
        "scheduler.between_users": "spark.slaq.betweenUsers",
        "scheduler.predictor": "spark.slaq.predictor",
        "scheduler.archive": "spark.slaq.archive",
        "scheduler.capacity": "spark.slaq.capacity",
    }


def test_every_number_of_the_tuning_is_in_the_shipped_file_with_its_default_and_loads_once_uncommented(tmp_path):
    _, tuning = SHIPPED.read_text("utf-8").split("# [tuning]")
    entries = [line.removeprefix("# ") for line in tuning.splitlines() if re.match(r"# \w+ = ", line)]
    file = tmp_path / "slaq.toml"
    file.write_text("\n".join(["[tuning]", *entries]), "utf-8")
    assert load(file, env={}).tuning == asdict(DEFAULTS)
    comments = [line for line in tuning.splitlines() if line.startswith("# ") and " = " not in line]
    assert len(comments) >= len(entries), "every number says what it means"
