"""`slaq conf`: check, show, template."""

import itertools
import json
import re
import zipfile
from pathlib import Path

import pyspark
import pytest

from slaq.cli.conf import _values
from slaq.config import KEYS, load
from slaq.spark.jar import PLUGIN
from tests.cli.command import slaq

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"


@pytest.fixture(autouse=True)
def _no_settings_of_the_caller(monkeypatch):
    for name in ("SLAQ_CONF", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)


def test_check_of_a_good_file():
    result = slaq("conf", "check", str(CONF / "slaq.toml"))
    assert (result.code, result.out) == (0, f"{CONF}/slaq.toml: fine\n")


def test_check_of_a_bad_file_names_line_and_remedy(tmp_path):
    file = tmp_path / "slaq.toml"
    file.write_text("[scheduler]\nepoch_s = 0\npolcy = 'fair'\n")
    result = slaq("conf", "check", str(file))
    assert result.code == 2
    assert result.err == (
        f'slaq: {file}:2: scheduler.epoch_s is 0; give a number from 0.1 to 60, or a time such as "500ms"\n'
        f"{file}:3: unknown key scheduler.polcy; did you mean scheduler.policy?\n"
    )


def test_show_tells_every_value_and_its_source(tmp_path, monkeypatch):
    file = tmp_path / "slaq.toml"
    file.write_text("weight = 2\n[users.alice]\nmax_cores = 3\n[tuning]\nworth_end = 1\n")
    monkeypatch.setenv("SLAQ_SCHEDULER_EPOCH_S", "0.5")
    result = slaq("conf", "show", "--conf", str(file), "--format", "json")
    shown = json.loads(result.out)
    assert shown["weight"] == {"value": 2.0, "source": f"{file}:1"}
    assert shown["scheduler.epoch_s"] == {"value": 0.5, "source": "$SLAQ_SCHEDULER_EPOCH_S"}
    assert shown["users.alice.max_cores"] == {"value": 3.0, "source": f"{file}:3"}
    assert shown["tuning.worth_end"] == {"value": 1.0, "source": f"{file}:5"}
    assert shown["max_cores"] == {"value": None, "source": "default"}
    assert shown.keys() >= {key.name for key in KEYS if not key.name.startswith("users.")}
    table = slaq("conf", "show", "--conf", str(file)).out
    assert "$SLAQ_SCHEDULER_EPOCH_S" in table


def test_show_points_out_variables_that_are_no_keys(monkeypatch):
    monkeypatch.setenv("SLAQ_WEIGTH", "2")
    result = slaq("conf", "show")
    assert result.code == 0
    assert result.err == "$SLAQ_WEIGTH is not a key of SLAQ; did you mean SLAQ_WEIGHT?\n"


def test_the_template_is_the_shipped_file():
    assert slaq("conf", "template").out == (CONF / "slaq.toml").read_text("utf-8")


def test_the_page_of_all_keys_is_the_one_in_the_documentation():
    page = slaq("conf", "template", "--format", "markdown").out
    assert page == (ROOT / "docs" / "configuration.md").read_text("utf-8"), "write docs/configuration.md anew"
    assert all(f"`{key.name}`" in page for key in KEYS)


def test_the_spark_template_holds_only_keys_that_are_read():
    lines = [line.lstrip("# ") for line in (CONF / "spark-defaults.conf.template").read_text("utf-8").splitlines()]
    settings = dict(line.split(None, 1) for line in lines if line.startswith("spark.") and " " in line)
    config = load(env={}, spark=settings)
    assert config.endpoint.startswith("http")
    assert settings["spark.plugins"] == PLUGIN
    # What is shown as a default is one.
    defaults = _values(load(env={}))
    templated = [name for name, source in config.sources.items() if source in settings and "File" not in source]
    assert len(templated) > 10
    for name in set(templated) - {"endpoint", "python"}:
        assert _values(config)[name] == defaults[name]


def test_sparks_own_keys_in_the_template_are_keys_of_the_installed_spark():
    text = (CONF / "spark-defaults.conf.template").read_text("utf-8")
    keys = set(re.findall(r"^#? ?(spark\.(?!slaq\.)\S+)", text, re.MULTILINE))
    assert {"spark.kubernetes.executor.request.cores", "spark.yarn.dist.files", "spark.cores.max"} <= keys
    unknown = {key.encode() for key in keys}
    for part in ("core", "launcher", "kubernetes", "yarn"):
        (jar,) = (Path(pyspark.__file__).parent / "jars").glob(f"spark-{part}_*.jar")
        with zipfile.ZipFile(jar) as classes:
            for name in classes.namelist():
                if unknown and name.endswith(".class"):
                    code = classes.read(name)
                    unknown -= {key for key in unknown if key in code}
    assert not unknown


def test_the_schedulers_settings_in_the_spark_template_are_complete(tmp_path):
    text = (CONF / "spark-defaults.conf.template").read_text("utf-8")
    _, *snippets = text.split("# conf/slaq.toml of the scheduler:\n")
    assert len(snippets) == 3
    for snippet in snippets:
        lines = itertools.takewhile(lambda line: line.startswith("#   "), snippet.splitlines())
        file = tmp_path / "slaq.toml"
        file.write_text("\n".join(line.removeprefix("#   ") for line in lines))
        config = load(file, env={})
        assert config.scheduler.tls_cert
        assert config.users["alice"].token_file
        assert config.scheduler.capacity in (160, "master")


def test_version_needs_no_scheduler():
    result = slaq("version", "--format", "json", "--endpoint", "http://127.0.0.1:9")
    assert json.loads(result.out)["scheduler"] == "none answers at http://127.0.0.1:9"
