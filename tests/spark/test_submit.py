"""`slaq submit`: the user's command line, plus SLAQ, minus nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from slaq.errors import SlaqError
from slaq.spark.jar import PLUGIN, jar_path
from slaq.spark.submit import JAVA_OPTIONS, PLUGINS, PYTHON, file_conf, in_keys, parse, properties, with_slaq

AGENT = f"-javaagent:{jar_path()}"


def effective(arguments: list[str]) -> dict[str, str]:
    """What spark-submit would make of a command line."""
    return dict(parse(arguments).conf)


def added(*arguments: str, environ: dict[str, str] | None = None, home: Path = Path("/nowhere")) -> list[str]:
    return with_slaq(arguments, environ or {}, home)


def test_the_users_part_stays_word_for_word():
    before = ["--master", "local[2]", "--conf", "spark.a=b c", "-v"]
    after = ["app.py", "--conf", "spark.slaq.strict=true", "--master", "a b", "$HOME;x"]
    command = added(*before, *after)
    assert command[: len(before)] == before
    assert command[-len(after) :] == after


def test_plugin_agent_and_python_are_added():
    conf = effective(added("app.py"))
    assert conf == {PLUGINS: PLUGIN, JAVA_OPTIONS: AGENT, PYTHON: sys.executable}


@pytest.mark.parametrize(
    "users",
    [
        ["--conf", "spark.plugins=com.example.P", "--conf", "spark.driver.extraJavaOptions=-Da=1 -Db=2"],
        ["-c", "spark.plugins=com.example.P", "--driver-java-options", "-Da=1 -Db=2"],
        ["--conf=spark.plugins=com.example.P", "--driver-java-options=-Da=1 -Db=2"],
    ],
)
def test_lists_given_as_options_are_appended_to(users):
    conf = effective(added(*users, "app.py"))
    assert conf[PLUGINS] == f"com.example.P,{PLUGIN}"
    assert conf[JAVA_OPTIONS] == f"-Da=1 -Db=2 {AGENT}"


FILE = """
# a comment
spark.plugins           com.example.P
spark.driver.extraJavaOptions=-Da=1
spark.slaq.python : /opt/python
"""


def test_lists_in_a_properties_file_are_appended_to(tmp_path):
    file = tmp_path / "my.conf"
    file.write_text(FILE)
    conf = effective(added("--properties-file", str(file), "app.jar"))
    assert (conf[PLUGINS], conf[JAVA_OPTIONS]) == (f"com.example.P,{PLUGIN}", f"-Da=1 {AGENT}")
    assert PYTHON not in conf


@pytest.mark.parametrize("by", ["SPARK_CONF_DIR", "SPARK_HOME"])
def test_lists_in_spark_defaults_are_appended_to(tmp_path, by):
    folder = tmp_path if by == "SPARK_CONF_DIR" else tmp_path / "conf"
    folder.mkdir(exist_ok=True)
    (folder / "spark-defaults.conf").write_text(FILE)
    environ = {"SPARK_CONF_DIR": str(folder)} if by == "SPARK_CONF_DIR" else {}
    conf = effective(added("app.jar", environ=environ, home=tmp_path))
    assert (conf[PLUGINS], conf[JAVA_OPTIONS]) == (f"com.example.P,{PLUGIN}", f"-Da=1 {AGENT}")


@pytest.mark.parametrize(
    ("options", "plugins"),
    [
        ([], "defaults"),
        (["--properties-file", "own"], "own"),
        (["--properties-file", "none", "--load-spark-defaults"], "defaults"),
        (["--load-spark-defaults", "--properties-file", "own"], "own"),
        (["--extra-properties-file", "own"], "own"),
        (["--properties-file", "own", "--extra-properties-file=extra"], "extra"),
        (["--extra-properties-file", "extra", "--extra-properties-file", "own"], "own"),
        (["--extra-properties-file", "own", "--conf", "spark.plugins=option"], "option"),
    ],
)
def test_files_win_over_each_other_as_in_spark(tmp_path, options, plugins, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("own", "extra"):
        (tmp_path / name).write_text(f"spark.plugins {name}\n")
    (tmp_path / "none").write_text("spark.a b\n")
    (tmp_path / "spark-defaults.conf").write_text("spark.plugins defaults\n")
    conf = effective(added(*options, "app.py", environ={"SPARK_CONF_DIR": str(tmp_path)}))
    assert conf[PLUGINS] == f"{plugins},{PLUGIN}"


def test_bytes_that_are_no_utf_8_are_no_error(tmp_path):
    file = tmp_path / "my.conf"
    file.write_bytes(b"# caf\xe9\nspark.plugins com.example.P\n")
    assert effective(added("--properties-file", str(file), "app.py"))[PLUGINS] == f"com.example.P,{PLUGIN}"


def test_its_own_options_become_keys_and_the_applications_stay():
    line = ["--deadline", "20min", "--te", "--utility=time-sensitive", "app.py", "--te", "--deadline"]
    found = effective(in_keys(line))
    assert found["spark.slaq.deadline"] == "20min"
    assert found["spark.slaq.utility"] == "time-sensitive"
    assert found["spark.slaq.class"] == "te"
    assert added(*line)[-3:] == ["app.py", "--te", "--deadline"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--deadline", "soon"], "the deadline is 'soon'; give the time"),
        (["--deadline="], "--deadline needs a value"),
        (["--utility", "time-critical"], "there is no deadline"),
        (["--deadline", "1h", "--conf", "spark.slaq.utility=1,1,60"], "leave the deadline out"),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_before_spark_starts(options, message):
    with pytest.raises(SlaqError, match=message):
        with_slaq([*options, "app.py"], {}, Path("/nowhere"))


def test_what_is_there_already_is_not_added_twice():
    once = added("app.py")
    assert effective(added(*once)) == effective(once)


@pytest.mark.parametrize("command", [["--version"], ["--status", "driver-1"], ["--kill", "driver-1", "--verbose"], []])
def test_a_command_without_an_application_is_left_alone(command):
    assert added(*command) == command


def test_a_missing_properties_file_is_named(tmp_path):
    with pytest.raises(SlaqError, match=r"--properties-file .*none\.conf cannot be read"):
        file_conf(parse(["--properties-file", str(tmp_path / "none.conf"), "app.py"]), {}, tmp_path)


def test_properties_are_read_as_java_reads_them():
    text = "a=1\nb: 2\nc 3 4\n!no=1\n#no=1\nd=x\\\n  y\n\nnovalue\n"
    assert dict(properties(text)) == {"a": "1", "b": "2", "c": "3 4", "d": "xy"}


def test_a_comment_does_not_go_on_in_the_next_line_and_a_value_does():
    text = "# folder C:\\\na=1\n  ! too \\\nb=x\\\n\t#y\nc=z\\\\\nd=1\\"
    assert dict(properties(text)) == {"a": "1", "b": "x#y", "c": "z\\\\", "d": "1"}


class TestTheProcess:
    """`slaq submit` becomes spark-submit: seen with a program in its place that tells what it was given."""

    @pytest.fixture
    def home(self, tmp_path):
        (tmp_path / "bin").mkdir()
        program = tmp_path / "bin" / "spark-submit"
        program.write_text(
            f"#!{sys.executable}\n"
            "import os, signal, sys, time\n"
            "signal.signal(signal.SIGTERM, lambda *_: sys.exit(41))\n"
            "print(os.getpid(), sys.argv[-1], flush=True)\n"
            "if sys.argv[-1] == 'wait': time.sleep(30)\n"
            "sys.exit(7)\n"
        )
        program.chmod(0o755)
        return tmp_path

    def start(self, home, *arguments):
        return subprocess.Popen(
            [sys.executable, "-m", "slaq.cli", "submit", *arguments],
            env={**os.environ, "SPARK_HOME": str(home)},
            stdout=subprocess.PIPE,
            text=True,
        )

    def test_arguments_go_through_no_shell_and_the_exit_code_comes_back(self, home):
        process = self.start(home, "app.py", "a b; $HOME `id` *")
        out, _ = process.communicate(timeout=60)
        assert out == f"{process.pid} a b; $HOME `id` *\n"
        assert process.returncode == 7

    def test_signals_reach_the_application(self, home):
        process = self.start(home, "app.py", "wait")
        assert process.stdout.readline() == f"{process.pid} wait\n"
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=60) == 41

    def test_a_home_without_spark_is_named(self, tmp_path):
        done = subprocess.run(
            [sys.executable, "-m", "slaq.cli", "submit", "app.py"],
            env={**os.environ, "SPARK_HOME": str(tmp_path)},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 2
        assert done.stderr == f"slaq: {tmp_path} holds no bin/spark-submit; set SPARK_HOME to a Spark distribution\n"
