"""Neighbouring versions of protocol and database work together, so that a scheduler is upgraded while jobs run."""

import sqlite3

import pytest

from slaq.agent import Agent, Failover, Hooks, Http
from slaq.errors import SlaqError
from slaq.protocol import OLDEST, PROTOCOL, understood
from slaq.scheduler.store.database import Database
from slaq.scheduler.store.schema import VERSION
from tests.scheduler.random_kills import free_port
from tests.scheduler.support import Process, until

NEXT = f"""
from functools import partial
import slaq.protocol as protocol
import slaq.scheduler.store.schema as schema
protocol.PROTOCOL, protocol.OLDEST = {PROTOCOL + 1}, {OLDEST}
protocol.understood = partial(protocol.understood, ours={PROTOCOL + 1}, our_oldest={OLDEST})
schema.VERSION, schema.OLDEST = {VERSION + 1}, {VERSION}
from slaq.scheduler.store import database
database._MIGRATIONS[{VERSION}] = lambda found: found.execute(
    "ALTER TABLE jobs ADD COLUMN colour TEXT NOT NULL DEFAULT 'blue'"
)
from slaq.cli import main
main()
"""
"""A scheduler of the next version, which is compatible with ours and adds a column."""


@pytest.mark.parametrize(
    ("theirs", "their_oldest", "ours", "our_oldest", "talk"),
    [
        (3, 3, 3, 3, True),
        (3, 0, 3, 3, True),
        (4, 3, 3, 3, True),
        (4, 0, 3, 3, False),
        (4, 4, 3, 3, False),
        (2, 2, 3, 2, True),
        (2, 0, 3, 2, True),
        (2, 2, 3, 3, False),
    ],
)
def test_peers_talk_if_each_is_as_new_as_the_others_oldest(theirs, their_oldest, ours, our_oldest, talk):
    assert understood(theirs, their_oldest, ours, our_oldest) is talk
    assert understood(ours, our_oldest, theirs, their_oldest or theirs) is talk


def test_a_job_goes_on_through_an_upgrade_and_back(tmp_path):
    ports = [free_port(), free_port()]
    working = Process(tmp_path, port=ports[0])
    transport = Failover([Http(f"http://127.0.0.1:{port}", timeout_s=1.0) for port in ports])
    agent = Agent(transport, Hooks(lambda *_: None, lambda: None, cores=lambda: 8.0), user="alice")
    agent.begin("1")
    made = 0
    try:
        for port, program in ((ports[1], NEXT), (ports[0], None), (ports[1], NEXT)):
            for _ in range(5):
                agent.report("1", 1.0 / (1 + made), made)
                made += 1
            until(lambda scheduler=working, all_of_it=made: _reports(scheduler) == [all_of_it])
            following = Process(tmp_path, port=port, program=program, standby=True)
            working.kill()
            working.log.close()
            following.took_over()
            working = following
        until(lambda: agent.connected and _reports(working) == [made])
        assert working.get("/v1/status")["protocol"] == PROTOCOL + 1
        (key,) = working.jobs()
        assert [point[1] for point in working.get(f"/v1/jobs/{key}")["losses"]] == list(range(made))
        assert agent.dropped == 0
    finally:
        agent.close()
        working.close()
    stored = sqlite3.connect(tmp_path / "state" / "history.db")
    assert stored.execute("PRAGMA user_version").fetchone() == (VERSION + 1,), "our version left it as it was"
    stored.close()


def test_a_database_that_only_newer_versions_understand_is_refused(tmp_path):
    Database(tmp_path / "history.db").close()
    stored = sqlite3.connect(tmp_path / "history.db")
    stored.executescript(
        f"PRAGMA user_version = {VERSION + 1}; INSERT OR REPLACE INTO meta VALUES ('oldest', {VERSION + 1})"
    )
    stored.close()
    with pytest.raises(SlaqError, match=f"newer SLAQ in format {VERSION + 1}"):
        Database(tmp_path / "history.db")


def _reports(scheduler: Process) -> list[int]:
    return [job["reports"] for job in scheduler.jobs().values()]
