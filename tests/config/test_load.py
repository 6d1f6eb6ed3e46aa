"""The layers of the configuration, and the sentences about what is wrong in them."""

import subprocess
import sys
from pathlib import Path

import pytest

from slaq.config import UserConfig, load, stray_variables
from slaq.errors import SlaqError


@pytest.fixture
def conf(tmp_path: Path):
    def write(text: str) -> Path:
        path = tmp_path / "slaq.toml"
        path.write_text(text, "utf-8")
        return path

    return write


def problems(path: Path | None = None, **layers: object) -> list[str]:
    """The lines of the error, without the folder of the file."""
    with pytest.raises(SlaqError) as caught:
        load(path, **{"env": {}, **layers})
    return [line.replace(f"{path.parent}/", "") if path else line for line in str(caught.value).splitlines()]


def test_without_any_layer_every_value_is_its_default():
    config = load(env={})
    assert config.scheduler.epoch_s == 1.0
    assert config.scheduler.policy == "finish-line"
    assert config.source("scheduler.epoch_s") == "default"
    assert not config.sources


def test_each_layer_overrules_the_one_before_and_is_named_as_the_source(conf):
    path = conf("weight = 2\nuser = 'file'\nmax_cores = 4\nprogress = false\n")
    config = load(
        path,
        env={"SLAQ_WEIGHT": "3", "SLAQ_USER": "environment", "SLAQ_MAX_CORES": "5"},
        spark={"spark.slaq.weight": "4", "spark.slaq.user": "spark", "spark.master": "local"},
        flags={"weight": 5.0, "user": None},
    )
    assert (config.weight, config.user, config.max_cores, config.progress) == (5.0, "spark", 5.0, False)
    assert config.source("weight") == "flag"
    assert config.source("user") == "spark.slaq.user"
    assert config.source("max_cores") == "$SLAQ_MAX_CORES"
    assert config.source("progress") == f"{path}:4"
    assert config.source("strict") == "default"


def test_the_file_is_found_by_variable_or_in_sparks_conf_folder(conf):
    path = conf("weight = 2\n")
    assert load(env={"SLAQ_CONF": str(path)}).weight == 2
    assert load(env={"SPARK_CONF_DIR": str(path.parent)}).weight == 2
    assert load(env={"SPARK_CONF_DIR": str(path.parent / "elsewhere")}).weight == 1


def test_relative_paths_start_at_the_file_and_a_tilde_at_home(conf, monkeypatch):
    monkeypatch.setenv("HOME", "/home/someone")
    path = conf("token_file = 'secret/token'\nca_file = '~/ca.pem'\n")
    config = load(path, env={})
    assert config.token_file == str(path.parent / "secret/token")
    assert config.ca_file == "/home/someone/ca.pem"
    assert config.scheduler.state_dir == "/home/someone/.local/state/slaq"


def test_a_user_has_a_table_or_that_of_everyone(conf):
    config = load(conf('[users."*"]\nmax_cores = 4\n[users."j.doe"]\nweight = 2\nadmin = true\n'), env={})
    assert config.standing("j.doe") == UserConfig(weight=2.0, admin=True)
    assert config.standing("alice") == UserConfig(max_cores=4.0)
    assert load(env={}).standing("alice") == UserConfig()


def test_commands_ask_the_endpoint_or_this_host():
    assert load(env={"SLAQ_ENDPOINT": "http://far:1"}).address == "http://far:1"
    assert load(env={"SLAQ_SCHEDULER_PORT": "8"}).address == "http://127.0.0.1:8"


def test_all_problems_of_a_file_come_at_once_each_with_its_line_and_remedy(conf):
    path = conf(
        """\
limits = 3
tokn_file = "x"

[scheduler]
epoch_s = 600  # too long
policy = [
  "fair",
]
capacity = 2.5
port = "7527"

[users.alice]
weigth = 2
weight = -1
"""
    )
    assert problems(path) == [
        "slaq.toml:1: unknown key limits; it is a section: write [limits] and its keys below",
        "slaq.toml:2: unknown key tokn_file; did you mean token_file?",
        "slaq.toml:5: scheduler.epoch_s is 600; give a number from 0.1 to 60",
        "slaq.toml:6: scheduler.policy is ['fair']; give " + policies(),
        'slaq.toml:9: scheduler.capacity is 2.5; give a whole number from 1 to 1000000, or "drivers" or "master"',
        "slaq.toml:10: scheduler.port is '7527'; give a whole number from 0 to 65535",
        "slaq.toml:13: unknown key users.alice.weigth; did you mean users.alice.weight?",
        "slaq.toml:14: users.alice.weight is -1; give a number from 1e-06 to 1000000",
    ]


def policies() -> str:
    from slaq import policy

    return " or ".join(f'"{name}"' for name in policy.names())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[a]\n\n\nscheduler.port = -1", 4),
        ('user = """\nx\n"""\n[scheduler]\n# port = 5\nport = -1', 6),
        ("scheduler = { epoch_s = 1,\n port = -1 }" if sys.version_info >= (3, 15) else "scheduler = { port = -1 }", 1),
        ("[scheduler]\n[limits]\n[users.port]\nweight = 1\n[scheduler.x]\n[retention]\nport = -1", 7),
    ],
)
def test_the_line_is_that_of_the_statement_however_it_is_written(conf, text, line):
    assert any(problem.startswith(f"slaq.toml:{line}: ") for problem in problems(conf(text)))


def test_a_file_that_is_no_toml_or_no_text_or_not_there(conf, tmp_path):
    (problem,) = problems(conf("a = 1\nb = yes please\n"))
    assert problem.startswith("slaq.toml:2: ")
    assert "quotes" in problem
    (problem,) = problems(conf("a = [1,\n"))
    assert problem.startswith("slaq.toml:1: ")
    (tmp_path / "slaq.toml").write_bytes(b"\xff\xfe")
    assert "UTF-8" in problems(tmp_path / "slaq.toml")[0]
    assert "cannot read" in problems(tmp_path / "none.toml")[0]


def test_environment_spark_and_flags_are_checked_as_the_file_is():
    assert problems(env={"SLAQ_PROGRESS": "maybe"}) == ["$SLAQ_PROGRESS is 'maybe'; give true or false"]
    assert problems(spark={"spark.slaq.tokenfile": "x"}) == [
        "spark.slaq.tokenfile: unknown key; did you mean spark.slaq.tokenFile?"
    ]
    assert problems(spark={"spark.slaq.weight": "nan"}) == [
        "spark.slaq.weight is nan; give a number from 1e-06 to 1000000"
    ]
    assert problems(flags={"scheduler.port": 70000}) == [
        "flag for scheduler.port is 70000; give a whole number from 0 to 65535"
    ]
    assert problems(flags={"scheduler.prt": 1}) == ["unknown key scheduler.prt; did you mean scheduler.port?"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[scheduler]\nlease_s = 2\n", "slaq.toml:2: scheduler.lease_s is 2 s with epochs of 1 s; give 3 or more"),
        ("[scheduler]\nepoch_s = 9\n", "slaq.toml:2: scheduler.lease_s is 10 s with epochs of 9 s; give 27 or more"),
        ("[scheduler]\nhost = '0.0.0.0'\n", "slaq.toml:2: scheduler.host is '0.0.0.0', which others can reach"),
        ("[scheduler]\ncapacity = 'master'\n", 'slaq.toml:2: scheduler.capacity is "master"; set scheduler.master_url'),
        ("[scheduler]\ntls_cert = 'x.pem'\n", "slaq.toml:2: scheduler.tls_cert and scheduler.tls_key go together"),
        ("endpoint = 'scheduler:7527'\n", "slaq.toml:1: endpoint is 'scheduler:7527'; give an address that starts"),
        ("endpoint = 'http://[::1'\n", "slaq.toml:1: endpoint is 'http://[::1'; give an address that starts"),
        ("endpoint = 'http://a:port'\n", "slaq.toml:1: endpoint is 'http://a:port'; give an address that starts"),
        ("scheduler.master_url = 'http://'\n", "slaq.toml:1: scheduler.master_url is 'http://'; give an address that"),
    ],
)
def test_values_that_are_wrong_together(conf, text, sentence):
    (problem,) = problems(conf(text))
    assert problem.startswith(sentence)


def test_what_a_drivers_jvm_reads_is_refused_where_it_cannot_see_it(conf):
    assert problems(conf("python = '/usr/bin/python3'\n")) == [
        "slaq.toml:1: python is read inside the driver's JVM; set spark.slaq.python in Spark's configuration instead"
    ]
    assert load(env={"SLAQ_PYTHON": "x"}, spark={"spark.slaq.python": "python3.12"}).python == "python3.12"


def test_tokens_of_users_are_enough_to_listen_to_others(conf):
    config = load(conf("[scheduler]\nhost = '0.0.0.0'\n[users.alice]\ntoken_file = 'alice'\n"), env={})
    assert config.users["alice"].token_file.endswith("/alice")


def test_variables_that_look_like_keys_are_told_apart():
    assert stray_variables({"SLAQ_EPOCH": "1", "SLAQ_CONF": "x", "SLAQ_WEIGHT": "1", "HOME": "/"}) == {
        "SLAQ_EPOCH": "did you mean SLAQ_SCHEDULER_EPOCH_S?"
    }
    assert stray_variables({"SLAQ_ZZZ": "1"}) == {"SLAQ_ZZZ": "`slaq conf show` lists all keys"}
    assert stray_variables({"SLAQ_WEIGTH": "1"}) == {"SLAQ_WEIGTH": "did you mean SLAQ_WEIGHT?"}


def test_a_driver_reads_its_configuration_without_numpy():
    program = "import sys; import slaq.config; slaq.config.load(env={}); sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
