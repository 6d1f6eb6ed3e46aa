"""Faults, with real processes: every job finishes, at worst at full speed after the lease; nothing ended is lost."""

import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from contextlib import closing

import pytest

from slaq.protocol import routes
from tests.agent.test_http import Peer, response
from tests.scheduler.support import Process, replay, until
from tests.scheduler.trainer import Trainer

LEASE_S = Process.LEASE_S
SLACK_S = 2.5
"""What a busy machine may add to a time."""

pytestmark = pytest.mark.slow


@pytest.fixture
def train():
    trainers = []

    def begin(url, work_s, **options):
        trainers.append(Trainer(url, work_s, **options))
        return trainers[-1]

    yield begin
    for trainer in trainers:
        trainer.close()


def held(process: Process, trainer: Trainer) -> None:
    """Set the job aside, and wait until its driver obeys."""
    until(lambda: trainer.key in process.jobs(state="active"))
    process.patch(trainer.key, held=True)
    until(lambda: trainer.cores == 0.0)


@pytest.mark.parametrize("fault", [signal.SIGKILL, signal.SIGSTOP])
def test_a_scheduler_that_dies_or_hangs_costs_a_job_no_more_than_the_lease(start, train, fault):
    process = start()
    trainer = train(process.url, 1.0)
    held(process, trainer)
    done_s, gone = trainer.done_s, time.monotonic()
    process.signal(fault)
    until(lambda: trainer.cores is None)
    assert time.monotonic() - gone < LEASE_S + SLACK_S
    assert trainer.done_s - done_s < 0.5
    trainer.finish(LEASE_S + 1.0 + SLACK_S)


def test_a_scheduler_that_was_stopped_finds_its_jobs_again(start, train):
    process = start()
    trainer = train(process.url, 60.0)
    until(lambda: trainer.cores == 8.0)
    process.signal(signal.SIGSTOP)
    until(lambda: trainer.cores is None)
    time.sleep(1.5 * LEASE_S)
    process.signal(signal.SIGCONT)
    until(lambda: trainer.cores == 8.0)
    assert process.jobs()[trainer.key]["state"] == "running"


def silent_port() -> socket.socket:
    """Something that takes connections and never says a word."""
    return socket.create_server(("127.0.0.1", 0))


@pytest.mark.parametrize(
    "answer", [b"\x00garbage\r\n\r\n", response(b"oops", "500 Internal Server Error"), response(b'{"protocol":2}')]
)
def test_garbage_and_errors_cost_a_job_nothing(train, answer):
    peer = Peer(answer, close=True)
    trainer = train(peer.url, 0.5)
    assert trainer.finish() < 0.5 + SLACK_S
    assert peer.requests
    assert trainer.grants == []
    peer.socket.close()


def test_an_unreachable_scheduler_costs_a_job_nothing(train):
    with closing(silent_port()) as silent:
        slow = train(f"http://127.0.0.1:{silent.getsockname()[1]}", 0.5)
        nobody = train("http://127.0.0.1:9", 0.5)
        assert slow.finish() < 0.5 + SLACK_S
        assert nobody.finish() < 0.5 + SLACK_S


def test_a_scheduler_that_turns_bad_is_obeyed_no_longer_than_the_lease(start, train):
    process = start()
    trainer = train(process.url, 1.0)
    held(process, trainer)
    process.kill()
    with closing(socket.create_server(("127.0.0.1", process.port))) as impostor:
        threading.Thread(target=_answer_500, args=(impostor,), daemon=True).start()
        until(lambda: trainer.cores is None, LEASE_S + SLACK_S)
        trainer.finish()


def _answer_500(server: socket.socket) -> None:
    while True:
        try:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(response(b"oops", "500 Internal Server Error"))
        except OSError:
            return


def test_after_kill_and_restart_the_living_go_on_and_the_finished_are_still_there(start, train):
    process = start()
    finished = train(process.url, 0.3, name="done before")
    finished.finish()
    until(lambda: process.jobs(state="finished"))
    trainers = [train(process.url, 60.0) for _ in range(3)]
    until(lambda: all(trainer.cores is not None for trainer in trainers))
    process.patch(trainers[0].key, weight=3.0)
    before = process.jobs(state="running")
    incarnation = process.get(routes.STATUS)["incarnation"]
    process.kill()
    ended_meanwhile = trainers[2]
    ended_meanwhile.work_s = 0.0
    ended_meanwhile.finish()
    process = start(port=process.port)
    until(lambda: set(process.jobs(state="running")) == {trainer.key for trainer in trainers[:2]})
    until(lambda: set(process.jobs(state="finished")) == {finished.key, ended_meanwhile.key})
    after = process.jobs(state="running")
    for trainer in trainers[:2]:
        assert after[trainer.key]["first_loss"] == before[trainer.key]["first_loss"] == 1.0
        assert after[trainer.key]["reports"] >= before[trainer.key]["reports"]
    assert process.get(routes.STATUS)["incarnation"] > incarnation
    assert after[trainers[0].key]["weight"] == 3.0
    until(lambda: sum(trainer.cores or 0.0 for trainer in trainers[:2]) == 8.0)
    assert not any("dropped" in problem for problem in process.get(routes.STATUS)["problems"])


def test_the_agents_next_beats_rebuild_the_live_state_within_two_epochs(start, train, tmp_path):
    """By the scheduler's own log: its first decision, two epochs after the start, knows everyone and all they said."""
    times = {"epoch_s": 1.0, "lease_s": 5.0}
    process = start(**times)
    trainers = [train(process.url, 60.0) for _ in range(3)]
    until(lambda: all(trainer.cores is not None for trainer in trainers))
    process.kill()
    older = set((tmp_path / "state").glob("decisions-*.log"))
    process = start(port=process.port, **times)
    until(lambda: process.get(routes.STATUS)["epoch"] >= 1, 20.0)
    process.signal(signal.SIGTERM)
    process.process.wait(timeout=10)
    [log] = set((tmp_path / "state").glob("decisions-*.log")) - older
    _, first, _ = next(replay(log))
    assert first.epoch == 1
    assert set(first.jobs) == {trainer.key for trainer in trainers}
    assert sum(job.cores for job in first.jobs.values()) == 8.0
    for trainer in trainers:
        history = first.jobs[trainer.key].history
        assert (history.first_loss, history.even) == (1.0, True), "nothing of what was reported before is missing"


def test_two_at_once_do_not_share_a_port_or_a_folder(start, tmp_path):
    first = start()
    common = ["--capacity", "8", "--epoch-s", "0.1", "--lease-s", "1"]
    for port, folder, message in (
        (first.port, tmp_path / "other", "cannot listen on"),
        (0, tmp_path / "state", "another scheduler uses"),
    ):
        second = subprocess.run(
            [sys.executable, "-m", "slaq.cli", "scheduler", "--port", str(port), "--state-dir", str(folder), *common],
            capture_output=True,
            text=True,
            timeout=30,
        )
        assert second.returncode == 2
        assert message in second.stderr
    assert first.get(routes.STATUS)["problems"] == []


JUMPING = """
import time, sys
from slaq.scheduler import server
real, born = time.time, time.monotonic()
def jumping():
    lived = time.monotonic() - born
    return real() + (0 if lived < 2 else 86_400 if lived < 3 else -86_400)
original = server.Server.__init__
server.Server.__init__ = lambda self, config, reload=None: original(self, config, reload, wall=jumping)
from slaq.cli import main
main()
"""


def test_a_clock_that_jumps_a_day_disturbs_nobody(start, train):
    process = start(program=JUMPING)
    trainer = train(process.url, 60.0)
    until(lambda: trainer.cores == 8.0)
    offsets = set()
    end = time.monotonic() + 4.5
    while time.monotonic() < end:
        status = process.get(routes.STATUS)
        offsets.add(round((status["now_at"] - time.time()) / 86_400))
        assert status["jobs"]["running"] == 1
        assert trainer.agent.connected
        time.sleep(0.1)
    assert offsets == {0, 1, -1}


def test_a_full_disk_stops_no_decision(start, train):
    process = start(file_limit=100_000)
    trainers = [train(process.url, 0.5 + 0.2 * number) for number in range(6)]
    long = train(process.url, 60.0)
    for trainer in trainers:
        trainer.finish()
    until(lambda: long.cores == 8.0)
    # One database page more than fits: from here on nothing can be written.
    until(lambda: any("cannot" in problem for problem in process.get(routes.STATUS)["problems"]), 20.0)
    epoch = process.get(routes.STATUS)["epoch"]
    until(lambda: process.get(routes.STATUS)["epoch"] > epoch + 3)
    assert long.agent.connected
    assert process.get(routes.STATUS)["jobs"]["running"] == 1
    assert process.errors().count("cannot write the history") <= 1
    assert process.errors().count("cannot write the decision log") <= 1


def test_a_log_that_takes_nothing_does_not_keep_the_scheduler_from_its_work(tmp_path):
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "slaq.cli", "scheduler", "--port", str(port), "--state-dir", str(tmp_path / "s")]
    with open("/dev/full", "w") as full:
        process = subprocess.Popen([*command, "--capacity", "8"], stdout=full, stderr=subprocess.DEVNULL)
    try:
        until(lambda: process.poll() is not None or _healthy(port), 30.0)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait()


def _healthy(port: int) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}{routes.HEALTH}", timeout=1.0).close()
    except OSError:
        return False
    return True


@pytest.mark.parametrize("content", [b"garbage" * 999, b""])
def test_a_damaged_database_does_not_keep_the_scheduler_from_starting(start, train, tmp_path, content):
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "history.db").write_bytes(content)
    process = start()
    assert bool(process.get(routes.STATUS)["problems"]) == bool(content)
    trainer = train(process.url, 0.3)
    trainer.finish()
    until(lambda: process.jobs(state="finished"))


AGENT = """
import sys, time
from tests.scheduler.trainer import Trainer
trainer = Trainer(sys.argv[1], 3600.0, app=sys.argv[2])
print("up", flush=True)
time.sleep(3600)
"""


def test_cores_of_agents_that_are_killed_return_within_a_lease(start, train):
    process = start()
    survivor = train(process.url, 60.0)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    agents = [
        subprocess.Popen([sys.executable, "-c", AGENT, process.url, f"victim{i}"], env=environment) for i in range(4)
    ]
    try:
        until(lambda: process.get(routes.STATUS)["jobs"]["running"] == 5, 20.0)
        until(lambda: survivor.cores is not None and survivor.cores < 8.0)
        for agent in agents[:2]:
            agent.kill()
        killed = time.monotonic()
        until(lambda: process.get(routes.STATUS)["jobs"]["running"] == 3)
        assert time.monotonic() - killed < LEASE_S + SLACK_S
        for agent in agents[2:]:
            agent.kill()
        until(lambda: survivor.cores == 8.0, LEASE_S + SLACK_S)
        assert {job["state"] for job in process.jobs(state="lost").values()} == {"lost"}
        assert len(process.jobs(state="lost")) == 4
    finally:
        for agent in agents:
            agent.kill()
            agent.wait()


def test_no_report_is_lost_while_the_scheduler_is_away_for_a_while(start, train):
    process = start()
    trainer = train(process.url, 2.0, full=1.0)
    until(lambda: trainer.cores is not None)
    process.kill()
    process = start(port=process.port)
    trainer.finish()
    until(lambda: process.jobs(state="finished"))
    view = process.jobs()[trainer.key]
    assert view["iteration"] == view["reports"] - 1
    assert process.get(routes.STATUS)["dropped_reports"] == 0


def test_what_a_user_asks_for_reaches_the_driver(start, train):
    process = start()
    trainer = train(process.url, 60.0)
    held(process, trainer)
    process.patch(trainer.key, held=False)
    until(lambda: trainer.cores == 8.0)
    process.patch(trainer.key, cancel=True)
    trainer.finish()
    until(lambda: trainer.key in process.jobs(state="cancelled"))


def test_the_process_ends_in_order_and_its_log_replays(start, train, tmp_path):
    process = start()
    trainer = train(process.url, 1.0)
    trainer.finish()
    until(lambda: process.jobs(state="finished"))
    process.signal(signal.SIGTERM)
    assert process.process.wait(timeout=10) == 0
    assert "Traceback" not in process.errors()
    epochs = 0
    for file in (tmp_path / "state").glob("decisions-*.log"):
        for epoch, _, effects in replay(file):
            assert list(epoch.effects) == list(effects)
            epochs += 1
    assert epochs > 5


def test_another_conf_file_is_read_on_sighup(start, train, tmp_path):
    conf = tmp_path / "slaq.toml"
    conf.write_text('[scheduler]\npolicy = "fair"\n')
    process = start(conf=conf)
    trainer = train(process.url, 60.0)
    until(lambda: trainer.cores == 8.0)
    conf.write_text('[scheduler]\npolicy = "fifo"\n')
    process.signal(signal.SIGHUP)
    until(lambda: process.get(routes.STATUS)["policy"] == "fifo")
    conf.write_text('[scheduler]\npolicy = "best"\n')
    process.signal(signal.SIGHUP)
    until(lambda: "not reloaded" in process.errors())
    status = process.get(routes.STATUS)
    assert (status["policy"], status["jobs"]["running"]) == ("fifo", 1)
