"""The routes: what they answer, and to whom."""

import asyncio

import msgspec
import pytest

from slaq.bench._fuzz_requests import exchange
from slaq.bench._request_grammar import Asked
from slaq.config import LimitsConfig, UserConfig
from slaq.errors import SlaqError
from slaq.protocol import Answer, Dump, Failure, JobDetail, JobList, JobView, Status
from slaq.scheduler.auth import Tokens
from tests.scheduler.support import job, make_config
from tests.scheduler.web import Web, token_file

ADMIN, ALICE, BOB = "admin-token-0123456789", "alice-token-0123456789", "bobby-token-0123456789"


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
def guarded(tmp_path) -> Web:
    """A scheduler that others can reach: one administrator, two users."""
    users = {
        "alice": UserConfig(token_file=token_file(tmp_path, "alice", ALICE)),
        "bob": UserConfig(token_file=token_file(tmp_path, "bob", BOB)),
    }
    return Web(make_config(users=users, token_file=token_file(tmp_path, "admin", ADMIN), host="0.0.0.0"))


def test_every_route_answers_with_its_message(web):
    answer = web.post_beat(job("1", 2.0, 1.0), user="alice")
    assert msgspec.json.decode(answer.content, type=Answer).incarnation == 1
    web.epoch()
    for path, kind in (
        ("/v1/status", Status),
        ("/v1/jobs", JobList),
        ("/v1/jobs/app0001-1", JobDetail),
        ("/v1/dump", Dump),
    ):
        response = web.ask("GET", path)
        assert response.status_code == 200, path
        assert response.headers["content-type"] == "application/json"
        assert response.headers["x-content-type-options"] == "nosniff"
        msgspec.json.decode(response.content, type=kind)
    changed = web.ask("PATCH", "/v1/jobs/app0001-1", json={"weight": 2.0})
    assert msgspec.json.decode(changed.content, type=JobView).state == "running"
    assert web.ask("GET", "/healthz").text == "ok\n"
    metrics = web.ask("GET", "/metrics").text
    for line in (
        "slaq_epochs_total 1.0",
        "slaq_policy_failures_total 0.0",
        "slaq_reports_missed_total 0.0",
        "slaq_events_rejected_total 0.0",
        'slaq_jobs{state="running"} 1.0',
    ):
        assert line in metrics


def test_lists_take_parameters(web):
    web.post_beat(job("1", 2.0), job("2", 1.0), user="alice")
    web.post_beat(job("1", 3.0, ended="finished"), app="app0002", user="bob")

    def ids(query):
        return [found["id"] for found in web.ask("GET", f"/v1/jobs?{query}").json()["jobs"]]

    assert ids("sort=loss") == ["app0001-2", "app0001-1", "app0002-1"]
    assert ids("user=bob") == ["app0002-1"]
    assert ids("state=active&sort=id") == ["app0001-1", "app0001-2"]
    assert ids("state=queued&sort=id") == ["app0001-1", "app0001-2"]
    assert ids("state=finished&state=failed") == ["app0002-1"]
    assert ids("sort=id&limit=1&offset=1") == ["app0001-2"]


@pytest.mark.parametrize(
    "query", ["sort=colour", "state=asleep", "limit=-1", "limit=ten", "offset=1e9", "color=red", "limit=99999999999"]
)
def test_a_parameter_that_makes_no_sense_is_named(web, query):
    response = web.ask("GET", f"/v1/jobs?{query}")
    assert response.status_code == 400
    assert len(msgspec.json.decode(response.content, type=Failure).error) > 10


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/v1/beat", 404),
        ("GET", "/v1/jobs/app0001-9", 404),
        ("DELETE", "/v1/jobs/app0001-1", 405),
        ("GET", "/v1/jobs/../../etc/passwd", 404),
    ],
)
def test_what_is_not_there_is_refused_in_the_same_form(web, method, path, status):
    response = web.ask(method, path)
    assert response.status_code == status
    msgspec.json.decode(response.content, type=Failure)


def test_a_change_of_a_job_that_is_over_is_refused(web):
    web.post_beat(job("1", ended="finished"))
    response = web.ask("PATCH", "/v1/jobs/app0001-1", json={"held": True})
    assert response.status_code == 409
    assert "finished" in response.json()["error"]


def test_another_protocol_version_is_told_apart(web):
    body = b'{"protocol": 99, "app": "app0001", "seq": 1}'
    response = web.ask("POST", "/v1/beat", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 426


EVERY_ROUTE = [
    ("POST", "/v1/beat"),
    ("GET", "/v1/status"),
    ("GET", "/v1/jobs"),
    ("GET", "/v1/jobs/app0001-1"),
    ("PATCH", "/v1/jobs/app0001-1"),
    ("GET", "/v1/dump"),
    ("GET", "/metrics"),
]


@pytest.mark.parametrize(("method", "path"), EVERY_ROUTE)
@pytest.mark.parametrize("token", ["", "wrong-token-0123456789", ADMIN + "x", ADMIN[:-1]])
def test_without_the_right_token_nothing_is_told_or_changed(guarded, method, path, token):
    guarded.post_beat(job("1", 1.0), token=ALICE)
    response = guarded.ask(method, path, token=token, json={"held": True})
    assert response.status_code == 401
    assert guarded.scheduler.job("app0001-1").job.state == "queued"


def test_health_needs_no_token(guarded):
    assert guarded.ask("GET", "/healthz").status_code == 200


def test_the_token_says_who_one_is(guarded):
    guarded.post_beat(job("1"), token=ALICE, user="bob")
    assert guarded.scheduler.job("app0001-1").job.user == "alice"
    guarded.post_beat(job("1"), app="app0002", token=ADMIN, user="carol")
    assert guarded.scheduler.job("app0002-1").job.user == "carol"


def test_a_user_sees_and_changes_only_their_own_jobs(guarded):
    guarded.post_beat(job("1"), token=ALICE)
    guarded.post_beat(job("1"), app="app0002", token=BOB)
    assert [found["id"] for found in guarded.ask("GET", "/v1/jobs", token=BOB).json()["jobs"]] == ["app0002-1"]
    assert guarded.ask("GET", "/v1/jobs?user=alice", token=BOB).status_code == 403
    assert guarded.ask("GET", "/v1/jobs/app0001-1", token=BOB).status_code == 404
    assert guarded.ask("PATCH", "/v1/jobs/app0001-1", token=BOB, json={"held": True}).status_code == 404
    assert guarded.ask("GET", "/v1/dump", token=BOB).status_code == 403
    assert guarded.post_beat(job("1", ended="finished"), token=BOB).status_code == 403
    assert guarded.scheduler.job("app0001-1").job.state == "queued"


def test_an_administrator_sees_and_changes_everything(guarded):
    guarded.post_beat(job("1"), token=ALICE)
    assert guarded.ask("GET", "/v1/jobs", token=ADMIN).json()["total"] == 1
    assert guarded.ask("PATCH", "/v1/jobs/app0001-1", token=ADMIN, json={"held": True}).json()["state"] == "held"
    assert guarded.ask("GET", "/v1/dump", token=ADMIN).status_code == 200


def test_a_dump_names_no_token(guarded):
    text = guarded.ask("GET", "/v1/dump", token=ADMIN).text
    assert not any(token in text for token in (ADMIN, ALICE, BOB))


def test_an_address_that_others_can_reach_needs_a_token():
    with pytest.raises(SlaqError, match="token_file"):
        Tokens(make_config(), "0.0.0.0")


def test_an_address_that_others_can_reach_keeps_its_tokens(tmp_path):
    config = make_config(host="0.0.0.0", token_file=token_file(tmp_path, "admin", ADMIN))
    web = Web(config)
    with pytest.raises(SlaqError, match=r"listens on '0\.0\.0\.0'"):
        web.guard.reconfigure(make_config(host="127.0.0.1"))
    assert web.ask("GET", "/v1/status").status_code == 401
    assert web.ask("GET", "/v1/status", token=ADMIN).status_code == 200


def test_a_scheduler_that_cannot_decide_says_so_to_agents(web):
    web.post_beat(job("1"))
    web.epoch()
    web.now += 6.0
    answer = web.post_beat(job("1"))
    assert answer.status_code == 503
    assert "no longer" in answer.json()["error"]


def test_a_token_that_others_can_read_is_refused(tmp_path):
    with pytest.raises(SlaqError, match="chmod 600"):
        Tokens(make_config(token_file=token_file(tmp_path, "admin", ADMIN, mode=0o644)), "127.0.0.1")


def test_two_users_cannot_share_a_token(tmp_path):
    users = {name: UserConfig(token_file=token_file(tmp_path, name, ALICE)) for name in ("alice", "bob")}
    with pytest.raises(SlaqError, match="another user's"):
        Tokens(make_config(users=users), "127.0.0.1")


@pytest.mark.parametrize("host", ["evil.example:7527", "169.254.169.254", ""])
def test_without_tokens_only_the_names_of_this_host_are_answered_to(web, host):
    assert web.ask("GET", "/v1/status", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost:7527", "127.0.0.1", "[::1]:7527"])
def test_the_names_of_this_host_are_known(web, host):
    assert web.ask("GET", "/v1/status", headers={"Host": host}).status_code == 200


def test_pages_of_other_sites_are_refused(web):
    web.post_beat(job("1"))
    for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}):
        assert web.ask("PATCH", "/v1/jobs/app0001-1", json={"held": True}, headers=headers).status_code == 403
    plain = {"Content-Type": "text/plain"}
    assert web.ask("PATCH", "/v1/jobs/app0001-1", content=b'{"held":true}', headers=plain).status_code == 415
    assert web.scheduler.job("app0001-1").job.state == "queued"
    assert web.ask("GET", "/v1/status", headers={"Origin": "http://127.0.0.1:7527"}).status_code == 200


def test_a_large_body_is_refused_whether_it_says_so_or_not():
    web = Web(make_config(limits=LimitsConfig(body_bytes=2000)))
    headers = {"Content-Type": "application/json"}
    assert web.ask("POST", "/v1/beat", content=b" " * 2001, headers=headers).status_code == 413

    async def drops():
        for _ in range(100):
            yield b" " * 100

    assert web.ask("POST", "/v1/beat", content=drops(), headers=headers).status_code == 413


def test_a_large_body_in_one_piece_is_refused_although_its_length_was_not_told():
    web = Web(make_config(limits=LimitsConfig(body_bytes=2000)))
    body = b'{"held": true}' + b" " * 2000
    headers = ((b"host", b"127.0.0.1"), (b"content-type", b"application/json"))
    asked = Asked("PATCH", b"/v1/jobs/app0001-1", headers, (body,), "", True, True)
    assert asyncio.run(exchange(web.guard, asked))[0] == 413


def asked(target: bytes) -> Asked:
    return Asked("GET", target, ((b"host", b"127.0.0.1"),), (b"",), "", True, True)


@pytest.mark.parametrize("path", [b"/nowhere", b"/v1/jobs", b"/v1/jobs/", b"/v1/status"])
def test_a_query_that_is_not_utf_8_is_the_clients_mistake(web, path):
    assert asyncio.run(exchange(web.guard, asked(path + b"?user=\xff")))[0] < 500


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/nowhere/%1B%5B2J", None),
        ("GET", "/v1/jobs/%C2%9B31m", None),
        ("GET", "/v1/jobs?sort=%E2%80%AE", None),
        ("PATCH", "/v1/jobs/app0001-1", {"\x1b[2J": 1}),
        (
            "POST",
            "/v1/beat",
            {"protocol": 2, "app": "app0001", "seq": 1, "jobs": [{"id": "1", "ended": {"outcome": "\x1b"}}]},
        ),
    ],
)
def test_a_refusal_repeats_no_control_characters(web, method, path, body):
    response = web.ask(method, path, json=body)
    assert response.status_code >= 400
    assert response.json()["error"].isprintable()


def test_only_beats_are_counted_elsewhere(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 5.5)
    web = Web(make_config(limits=LimitsConfig(requests_per_s=5.0)))
    assert [web.ask("GET", "/v1/beat").status_code for _ in range(7)] == [404] * 5 + [429] * 2


def test_asking_too_often_is_refused_for_a_while(monkeypatch):
    monkeypatch.setattr("time.monotonic", lambda: 5.5)
    web = Web(make_config(limits=LimitsConfig(requests_per_s=5.0)))
    found = [web.ask("GET", "/v1/status").status_code for _ in range(7)]
    assert found == [200] * 5 + [429] * 2
    monkeypatch.setattr("time.monotonic", lambda: 6.5)
    assert web.ask("GET", "/v1/status").status_code == 200
