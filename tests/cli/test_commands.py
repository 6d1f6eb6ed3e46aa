"""Every command that asks the scheduler, against a real one with real reports in it."""

import csv
import io
import json
import os
import re
import subprocess
import sys

import pytest

from slaq.protocol import Ended, JobBeat, JobView
from tests.cli.command import slaq
from tests.cli.scheduler import Scheduler, ended, running_scheduler, training

HOSTILE = "[bold red]=cmd|x\x1b[2J\u202e\n<script>"
LOSSES = [10.0 * 0.8**k + 1.0 for k in range(30)]


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    with running_scheduler(
        tmp_path_factory.mktemp("scheduler"), conf_tail="[limits]\nrequests_per_s = 1000"
    ) as process:
        process.beat(
            "app00001",
            [training("lr", LOSSES, weight=2.0), training("evil", LOSSES[:5], name=HOSTILE), training("done", LOSSES)],
        )
        process.beat("app00001", [ended("done")])
        process.beat("app00002", [training("km", [5.0, 4.0, 3.5])], name="other", user="bob")
        process.wait_epochs(2)
        yield process


def ask(scheduler: Scheduler, *arguments: str) -> str:
    result = slaq(*arguments, "--endpoint", scheduler.endpoint)
    assert (result.code, result.err) == (0, ""), result
    return result.out


def ask_json(scheduler: Scheduler, *arguments: str):
    return json.loads(ask(scheduler, *arguments, "--format", "json"))


def test_status(scheduler):
    facts = ask_json(scheduler, "status")
    assert facts["capacity"]["cores"] == 4
    assert facts["jobs"]["running"] == 3
    text = ask(scheduler, "status")
    assert re.search(r"cores +4 of 4 granted \(fixed\)", text)
    assert "3 running" in text
    assert "every 0.2 s" in text


def test_jobs_are_the_active_ones_unless_others_are_asked_for(scheduler):
    def ids(*options: str) -> list[str]:
        return [job["id"] for job in ask_json(scheduler, "jobs", *options)["jobs"]]

    assert sorted(ids()) == ["app00001-evil", "app00001-lr", "app00002-km"]
    assert ids("--user", "bob") == ["app00002-km"]
    assert ids("--state", "finished") == ["app00001-done"]
    assert len(ids("--state", "all")) == 4
    assert len(ids("--state", "held", "--state", "lost")) == 0
    assert ids("--sort", "id") == sorted(ids())
    assert len(ids("--limit", "1")) == 1


def test_a_wrong_sort_field_is_one_sentence(scheduler):
    result = slaq("jobs", "--sort", "colour", "--endpoint", scheduler.endpoint)
    assert result.code == 2
    assert "colour" in result.err
    assert result.err.count("\n") == 1


def test_jobs_as_csv_has_every_field_and_no_formula(scheduler):
    rows = list(csv.DictReader(io.StringIO(ask(scheduler, "jobs", "--format", "csv"))))
    assert rows[0].keys() == set(JobView.__struct_fields__)
    (evil,) = [row["name"] for row in rows if row["id"] == "app00001-evil"]
    assert evil.startswith("[bold red]=cmd|x")
    assert evil.isprintable()
    scheduler.beat("app00003", [training("sum", [1.0], name="=1+1")])
    rows = list(csv.DictReader(io.StringIO(ask(scheduler, "jobs", "--format", "csv"))))
    assert "'=1+1" in [row["name"] for row in rows]
    scheduler.beat("app00003", [ended("sum")])
    scheduler.wait_epochs(1)  # its core goes to the others with the next decision


@pytest.mark.parametrize(
    "command", [("jobs",), ("job", "app00001-evil"), ("top", "--once"), ("explain", "app00001-evil")]
)
def test_a_hostile_name_stays_text(scheduler, command):
    text = ask(scheduler, *command)
    assert not set(text) & {"\x1b", "\u202e", "\r"}
    if command[0] in ("jobs", "job"):
        assert "[bold red]=cmd" in text


def test_a_job_shows_its_curve_its_cores_and_how_it_was_foreseen(scheduler):
    text = ask(scheduler, "job", "app00001-lr")
    assert "lr (LogisticRegression)" in text
    assert "loss by iteration" in text
    assert "cores by second" in text
    assert sum("⠀" <= c <= "⣿" and c != "⠀" for c in text) > 40, "curves are drawn"
    assert "prediction" in text
    detail = ask_json(scheduler, "job", "app00001-lr")
    assert len(detail["losses"]) == len(LOSSES)
    assert detail["job"]["loss"] == pytest.approx(LOSSES[-1])


def test_a_job_goes_by_the_beginning_of_its_id_or_by_its_name(scheduler):
    assert ask_json(scheduler, "job", "app00002")["job"]["id"] == "app00002-km"
    assert ask_json(scheduler, "job", "km")["job"]["id"] == "app00002-km"
    ambiguous = slaq("job", "app0000", "--endpoint", scheduler.endpoint)
    assert ambiguous.code == 2
    assert "give more of the id" in ambiguous.err
    missing = slaq("job", "nobody", "--endpoint", scheduler.endpoint)
    assert missing.code == 2
    assert missing.err == "slaq: no job 'nobody'; `slaq jobs --state all` lists them\n"


def test_explain_says_why_in_words_and_numbers(scheduler):
    text = ask(scheduler, "explain", "app00001-lr")
    for line in ("why", "one more core would buy", "the last core handed out bought", "floor", "cap", "weight"):
        assert line in text
    assert "its end" in text
    assert "in four cases of five" in text
    assert ask_json(scheduler, "explain", "app00001-lr")["weight"] == 2.0
    over = slaq("explain", "app00001-done", "--endpoint", scheduler.endpoint)
    assert (over.code, over.err) == (2, "slaq: job app00001-done is finished: no decision is in force for it\n")


def test_set_changes_the_weight(scheduler):
    assert ask(scheduler, "set", "km", "weight=3") == "app00002-km: weight 3 from the next epoch on\n"
    scheduler.wait_epochs(1)
    assert ask_json(scheduler, "explain", "km")["weight"] == 3.0


@pytest.mark.parametrize("assignment", ["weight", "weight=", "weight=-1", "weight=nan", "colour=red", "weight=1e99"])
def test_what_cannot_be_set(scheduler, assignment):
    result = slaq("set", "app00001-lr", assignment, "--endpoint", scheduler.endpoint)
    assert result.code == 2
    assert "weight" in result.err
    assert ask_json(scheduler, "job", "app00001-lr")["job"]["weight"] == 2.0


def test_hold_and_release(scheduler):
    assert "held" in ask(scheduler, "hold", "km")
    scheduler.wait_epochs(1)
    job = ask_json(scheduler, "job", "km")["job"]
    assert (job["state"], job["cores"]) == ("held", 0.0)
    assert "released" in ask(scheduler, "release", "km")
    scheduler.wait_epochs(1)
    job = ask_json(scheduler, "job", "km")["job"]
    assert job["state"] == "running"
    assert job["cores"] >= 1.0


def test_cancel_reaches_the_driver_and_one_failure_does_not_stop_the_rest(scheduler):
    scheduler.beat("app00004", [training("victim", [2.0, 1.0])])
    result = slaq("cancel", "nobody", "app00004-victim", "--endpoint", scheduler.endpoint)
    assert result.code == 2
    assert "app00004-victim: its driver is asked to end it" in result.out
    assert "no job 'nobody'" in result.err
    assert scheduler.beat("app00004", []).cancel == ["victim"]
    scheduler.beat("app00004", [ended("victim")])
    scheduler.wait_epochs(1)


def test_stop_reaches_the_driver_and_says_what_cannot_be_stopped(scheduler):
    trees = training("trees", [2.0], unstoppable="explicit ALS runs all its iterations in one Spark job")
    scheduler.beat("app00005", [training("fit", [2.0, 1.0]), trees])
    result = slaq("stop", "app00005-trees", "app00005-fit", "nobody", "--endpoint", scheduler.endpoint)
    assert result.code == 2
    assert "app00005-fit: ends after the iteration under way, with the model it has" in result.out
    assert "app00005-trees cannot be stopped early: explicit ALS runs all its iterations" in result.err
    assert "no job 'nobody'" in result.err
    assert scheduler.beat("app00005", []).stop == ["fit"]
    scheduler.beat("app00005", [JobBeat("fit", ended=Ended("stopped")), ended("trees")])
    scheduler.wait_epochs(1)
    assert [job["id"] for job in ask_json(scheduler, "jobs", "--state", "stopped")["jobs"]] == ["app00005-fit"]
    result = slaq("stop", "app00005-fit", "--endpoint", scheduler.endpoint)
    assert (result.code, "is stopped; only living jobs can be changed" in result.err) == (2, True)


def test_dump_is_everything(scheduler):
    facts = json.loads(ask(scheduler, "dump"))
    assert {job["job"]["id"] for job in facts["jobs"]} >= {"app00001-lr", "app00002-km"}
    assert facts["settings"]["scheduler"]["capacity"] == 4


def test_version_knows_the_scheduler(scheduler):
    assert scheduler.endpoint in ask_json(scheduler, "version")["scheduler"]


def test_top_once_and_without_a_terminal(scheduler):
    text = ask(scheduler, "top", "--once")
    assert "app00001-lr" in text
    assert re.search(r"cores +4 of 4", text)
    assert "app00002-km" not in ask(scheduler, "top", "--once", "--user", "alice")


def test_top_is_live_in_a_terminal_and_ends_quietly(scheduler):
    import pty

    main, follower = pty.openpty()
    command = [sys.executable, "-m", "slaq.cli", "top", "--interval", "0.2", "--endpoint", scheduler.endpoint]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "150", "LINES": "30"}
    process = subprocess.Popen(command, stdin=follower, stdout=follower, stderr=follower, env=env)
    os.close(follower)
    seen = b""
    while seen.count(b"app00001-lr") < 3:
        seen += os.read(main, 65536)
    process.send_signal(2)
    assert process.wait(10) == 0
    os.close(main)
    assert b"\x1b[?1049h" in seen, "it draws on a screen of its own"
    assert b"Traceback" not in seen
