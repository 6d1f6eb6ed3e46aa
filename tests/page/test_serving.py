"""What the page's routes send: files, headers, sessions, and to whom."""

import msgspec
import pytest

from slaq.config import LimitsConfig, UserConfig
from slaq.protocol import routes
from slaq.scheduler.page.look import look, sample
from slaq.scheduler.page.sessions import LONGEST_S, MOST, MOST_OF_ONE, Sessions
from tests.scheduler.support import Bench, job, make_config
from tests.scheduler.web import Web, token_file

ALICE, ADMIN = "alice-token-0123456789", "admin-token-0123456789"
JSON = {"Content-Type": "application/json"}
OWN = JSON | {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
def guarded(tmp_path) -> Web:
    users = {
        "alice": UserConfig(token_file=token_file(tmp_path, "alice", ALICE)),
        "root": UserConfig(token_file=token_file(tmp_path, "root", ADMIN), admin=True),
    }
    return Web(make_config(users=users))


def log_in(web: Web, token: str) -> str:
    """The cookie of a new session."""
    answer = web.ask("POST", routes.SESSION, content=msgspec.json.encode({"token": token}), headers=OWN)
    assert answer.status_code == 200
    return answer.headers["set-cookie"].partition(";")[0]


def test_the_page_comes_with_a_policy_that_lets_nothing_in_from_elsewhere(web):
    answer = web.ask("GET", "/ui/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert web.ask("GET", "/").headers["location"] == "/ui/"


def test_many_browsers_of_one_host_may_open_the_page_at_once_but_not_for_ever(web):
    files = ("/ui/", "/ui/main.js", "/ui/style.css")
    assert {web.ask("GET", file).status_code for file in files * 90} == {200}
    few = Web(make_config(limits=LimitsConfig(requests_per_s=1.0)))
    assert any(few.ask("GET", "/ui/main.js").status_code == 429 for _ in range(1000))


def test_a_file_that_has_not_changed_is_not_sent_again(web):
    tag = web.ask("GET", "/ui/main.js").headers["etag"]
    again = web.ask("GET", "/ui/main.js", headers={"If-None-Match": tag})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", ["/ui/nothing.js", "/ui/../look.py", "/ui/%2e%2e/look.py", "/ui//etc/passwd"])
def test_only_the_files_of_the_page_are_served(web, path):
    assert web.ask("GET", path).status_code == 404


def test_a_token_is_traded_for_a_cookie_that_scripts_cannot_read(guarded):
    body = msgspec.json.encode({"token": f" {ALICE}\n"})
    answer = guarded.ask("POST", routes.SESSION, content=body, headers=OWN)
    assert answer.json() == {"user": "alice", "admin": False, "tokens": True}
    kept = answer.headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert ALICE not in kept
    cookie = {"Cookie": kept.partition(";")[0]}
    assert guarded.ask("GET", routes.STATUS, headers=cookie).status_code == 200
    assert guarded.ask("DELETE", routes.SESSION, headers=OWN | cookie).status_code == 204
    assert guarded.ask("GET", routes.STATUS, headers=cookie).status_code == 401


def test_an_unknown_token_opens_no_session(guarded):
    answer = guarded.ask("POST", routes.SESSION, content=b'{"token": "guessed"}', headers=OWN)
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers
    assert guarded.ask("GET", routes.SESSION).status_code == 401
    assert guarded.ask("GET", routes.EVENTS).status_code == 401
    assert guarded.ask("GET", "/ui/").status_code == 200


def test_a_session_ends_with_its_token(guarded):
    cookie = {"Cookie": log_in(guarded, ALICE)}
    kept = {name: user for name, user in guarded.config.users.items() if name != "alice"}
    guarded.guard.reconfigure(make_config(users=kept))
    assert guarded.ask("GET", routes.STATUS, headers=cookie).status_code == 401


@pytest.mark.parametrize(
    "headers",
    [{}, {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}, {"Origin": "http://evil.example"}],
)
def test_a_change_by_cookie_comes_from_the_page_itself(guarded, headers):
    guarded.post_beat(job("1", 1.0), token=ALICE)
    cookie = {"Cookie": log_in(guarded, ALICE)}
    path = routes.JOB.format(id="app0001-1")
    foreign = guarded.ask("PATCH", path, content=b'{"weight": 2.0}', headers=JSON | cookie | headers)
    assert foreign.status_code == 403
    own = guarded.ask("PATCH", path, content=b'{"weight": 2.0}', headers=OWN | cookie)
    assert (own.status_code, own.json()["id"]) == (200, "app0001-1")


def test_another_site_cannot_log_a_browser_in(guarded):
    body = msgspec.json.encode({"token": ALICE})
    headers = JSON | {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}
    assert guarded.ask("POST", routes.SESSION, content=body, headers=headers).status_code == 403


def test_sessions_end_by_time_and_by_number():
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    first = sessions.open(b"a")
    assert sessions.digest(first) == b"a"
    for number in range(MOST):
        last = sessions.open(b"%d" % number)
    assert sessions.digest(first) is None
    now[0] = LONGEST_S + 1.0
    assert sessions.digest(last) is None


def test_one_user_cannot_end_the_sessions_of_others():
    sessions = Sessions(lambda: 0.0)
    admin = sessions.open(b"admin")
    names = [sessions.open(b"alice") for _ in range(3 * MOST)]
    assert sessions.digest(admin) == b"admin"
    assert sessions.digest(names[-1]) == b"alice"
    assert sessions.digest(names[-1 - MOST_OF_ONE]) is None


def test_a_user_sees_their_own_jobs_only():
    bench = Bench()
    bench.beat(job("1", 1.0, 0.5, name="mine"), app="app0001", user="alice")
    bench.beat(job("1", 1.0, 0.5, name="theirs"), app="app0002", user="bob")
    bench.epoch()
    assert [found.name for found in look(bench.scheduler, "alice").jobs] == ["mine"]
    assert [found.user for found in look(bench.scheduler, "alice").users] == ["alice"]
    assert {found.name for found in look(bench.scheduler, None).jobs} == {"mine", "theirs"}
    point = sample(bench.scheduler)
    assert {name for _, name, _, _ in point.cores} == {"mine", "theirs"}
    assert [name for _, name, _, _ in point.seen_by("alice").cores] == ["mine"]
    assert point.granted == pytest.approx(8.0)


def test_a_job_tells_its_parameters_and_the_decisions_that_changed_its_cores():
    bench = Bench()
    bench.beat(job("1", 1.0, 0.5))
    bench.epoch()
    bench.beat(job("2", 1.0, 0.5), app="app0002")
    bench.epoch()
    bench.epoch()
    changes = bench.scheduler.job("app0001-1").decisions
    assert changes[0].cores == 8.0
    assert changes[-1].cores < 8.0
    assert all(change.sentence for change in changes)
