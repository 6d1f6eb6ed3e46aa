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
    assert load(env={"SLAQ_ENDPOINT": "http://far:1"}).addresses == ("http://far:1",)
    assert load(env={"SLAQ_ENDPOINT": "http://a:1, http://b:1"}).addresses == ("http://a:1", "http://b:1")
    assert load(env={"SLAQ_SCHEDULER_PORT": "8"}).addresses == ("http://127.0.0.1:8",)


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
        'slaq.toml:5: scheduler.epoch_s is 600; give a number from 0.1 to 60, or a time such as "500ms"',
        "slaq.toml:6: scheduler.policy is ['fair']; give " + policies(),
        'slaq.toml:9: scheduler.capacity is 2.5; give a whole number from 1 to 1000000, or "drivers" or "master"',
        "slaq.toml:10: scheduler.port is '7527'; give a whole number from 0 to 65535",
        "slaq.toml:13: unknown key users.alice.weigth; did you mean users.alice.weight?",
        "slaq.toml:14: users.alice.weight is -1; give a number from 1e-06 to 1000000",
    ]


def policies() -> str:
    from slaq import policy

    *others, last = (f'"{name}"' for name in policy.names())
    return f"{', '.join(others)} or {last}"


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
        (
            "[scheduler]\nlease_s = 2\n",
            "slaq.toml:2: scheduler.lease_s is 2 s with epochs of 1 s; set it (spark.slaq.lease) to 3 or more",
        ),
        (
            "[scheduler]\nepoch_s = 9\n",
            "slaq.toml:2: scheduler.lease_s is 10 s with epochs of 9 s; set it (spark.slaq.lease) to 27 or more",
        ),
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
    assert stray_variables({"SLAQ_ZZZZZZ": "1"}) == {"SLAQ_ZZZZZZ": "`slaq conf template` lists all keys"}
    assert stray_variables({"SLAQ_WEIGTH": "1"}) == {"SLAQ_WEIGTH": "did you mean SLAQ_WEIGHT?"}


def test_a_driver_reads_its_configuration_without_numpy():
    spark = {"spark.slaq.endpoint": "http://far:1", "spark.slaq.epoch": "500ms"}
    program = (
        f"import sys; from slaq.config import load; load(env={{}}, spark={spark}); sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("0.5", 0.5), ("500ms", 0.5), ("1s", 1.0), (" 2 s ", 2.0), ("300000us", 0.3), ("0.5m", 30.0), ("1min", 60.0)],
)
def test_a_time_is_written_as_spark_writes_times(conf, text, seconds):
    assert load(env={}, spark={"spark.slaq.epoch": text, "spark.slaq.lease": "10m"}).scheduler.epoch_s == seconds
    assert load(env={}, flags={"scheduler.epoch_s": text, "scheduler.lease_s": 600}).scheduler.epoch_s == seconds
    if not text.strip()[-1].isdigit():
        assert (
            load(conf(f"scheduler.epoch_s = '{text}'\nscheduler.lease_s = 600\n"), env={}).scheduler.epoch_s == seconds
        )


@pytest.mark.parametrize("text", ["soon", "5 parsecs", "", "-1s", "1e", "ms", "2h", "nan"])
def test_what_is_not_a_time_or_too_long_names_the_key_and_shows_one(text):
    (problem,) = problems(spark={"spark.slaq.epoch": text})
    assert problem.startswith("spark.slaq.epoch is ")
    assert problem.endswith('; give a number from 0.1 to 60, or a time such as "500ms"')


def test_a_driver_that_schedules_itself_is_set_up_by_its_spark_configuration():
    spark = {"spark.slaq.policy": "fair", "spark.slaq.epoch": "500ms", "spark.slaq.capacity": "3"}
    config = load(env={}, spark=spark)
    assert (config.scheduler.policy, config.scheduler.epoch_s, config.scheduler.capacity) == ("fair", 0.5, 3)
    assert config.source("scheduler.policy") == "spark.slaq.policy"
    assert problems(spark={"spark.slaq.polcy": "fair"}) == [
        "spark.slaq.polcy: unknown key; did you mean spark.slaq.policy?"
    ]
    assert problems(spark={"spark.slaq.policy": "best"}) == [f"spark.slaq.policy is 'best'; give {policies()}"]
    assert load(env={}, spark={"spark.slaq.predictor": "weighted-fit"}).scheduler.predictor == "weighted-fit"
    assert problems(spark={"spark.slaq.predictor": "best"}) == [
        'spark.slaq.predictor is \'best\'; give "learned" or "weighted-fit"'
    ]


def test_a_driver_shares_out_its_own_cores_unless_it_is_told_how_many(conf):
    central = conf("[scheduler]\ncapacity = 160\npolicy = 'fair'\n")
    assert load(central, env={}).in_driver().scheduler.capacity == "drivers"
    assert load(central, env={}).in_driver().scheduler.policy == "fair"
    assert load(central, env={}, spark={"spark.slaq.capacity": "3"}).in_driver().scheduler.capacity == 3
    assert load(central, env={}, flags={"scheduler.capacity": 5}).in_driver().scheduler.capacity == 5


def test_numbers_of_the_tuning(conf):
    config = load(conf("[tuning]\noverdue = 1.5\nworth_end = 1\n"), env={})
    assert config.tuning == {"overdue": 1.5, "worth_end": 1.0}
    assert config.source("tuning.worth_end").endswith(":3")
    assert load(env={}).tuning == {}


def test_what_is_wrong_in_the_tuning(conf):
    path = conf("[tuning]\noverdeu = 1.5\nworth_end = -1\nworth_90 = inf\noptimism = true\nlasting = 'x'\n")
    assert problems(path) == [
        "slaq.toml:2: unknown key tuning.overdeu; did you mean tuning.overdue?",
        "slaq.toml:3: tuning.worth_end is -1; give a positive, finite number",
        "slaq.toml:4: tuning.worth_90 is inf; give a positive, finite number",
        "slaq.toml:5: tuning.optimism is True; give a positive, finite number",
        "slaq.toml:6: tuning.lasting is 'x'; give a positive, finite number",
    ]
    assert problems(conf("tuning = 3\n")) == [
        "slaq.toml:1: unknown key tuning; it is a section: write [tuning] and its keys below"
    ]


def test_a_user_may_have_less_than_a_core_only_if_users_share_first(conf):
    limit = "[users.alice]\nmax_cores = 0.5\n"
    (problem,) = problems(conf(limit))
    assert "users.alice.max_cores is 0.5" in problem
    assert 'set scheduler.between_users = "fair"' in problem
    config = load(conf(f"[scheduler]\nbetween_users = 'fair'\n{limit}"), env={})
    assert config.users["alice"].max_cores == 0.5


def test_every_one_of_several_endpoints_has_to_be_an_address():
    (problem,) = problems(env={"SLAQ_ENDPOINT": "http://a:1,b"})
    assert "'b'" in problem
