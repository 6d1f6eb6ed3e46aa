"""The page's history before a real scheduler: any past minute, and what another policy would have made of it."""

import time

import httpx
import pytest
from msgspec.structs import replace

from slaq.config import UserConfig
from slaq.protocol import Ended, routes
from tests.page.browser import Watched, keep, launched
from tests.page.fleet import Fleet
from tests.scheduler.support import Process, make_config, until
from tests.scheduler.web import Web, token_file

HOSTILE = "<img src=x onerror=alert(1)>"
ALICE, ADMIN = "alice-token-0123456789", "admin-token-0123456789"


@pytest.fixture(scope="module")
def scheduler(tmp_path_factory):
    """A scheduler of alice and an administrator, with two fits that ended, one that did not, and one of bob's."""
    folder = tmp_path_factory.mktemp("history")
    conf = folder / "slaq.toml"
    files = {name: token_file(folder, name, token) for name, token in (("admin", ADMIN), ("alice", ALICE))}
    conf.write_text(f'token_file = "{files["admin"]}"\n[users.alice]\ntoken_file = "{files["alice"]}"\n')
    process = Process(folder, lease_s=600, epoch_s=0.1, conf=conf)
    process.began_at = time.time()
    alice, bob = Fleet(process.url, ALICE), Fleet(process.url, ADMIN)
    names = {"1": "first fit", "2": HOSTILE, "3": "long fit"}
    for turn in range(12):
        jobs = [alice.message("past0001", key, 2, name) for key, name in names.items()]
        if turn == 11:
            jobs = [replace(each, ended=Ended()) if each.id != "3" else each for each in jobs]
        alice.beat("past0001", jobs)
        bob.train("other001", "1", 1, user="bob", name="fit of bob")
        time.sleep(0.12)
    yield process
    process.close()


@pytest.fixture
def ask(scheduler):
    def send(path: str, token: str = ADMIN, **query: object) -> httpx.Response:
        query = {"from": scheduler.began_at, "until": time.time() + 1} | query
        headers = {"Authorization": f"Bearer {token}"}
        return httpx.get(scheduler.url + path, params=query, headers=headers, timeout=60)

    return send


@pytest.mark.slow
def test_the_past_names_the_jobs_that_one_may_see(ask, scheduler):
    until(lambda: len(ask(routes.PAST).json()["past"]["samples"]) > 10)
    minute = {"until": scheduler.began_at + 60.0, "jobs": 1}
    everyone, own = ask(routes.PAST, **minute).json(), ask(routes.PAST, ALICE, **minute).json()
    assert {title["name"] for title in everyone["titles"].values()} == {"first fit", HOSTILE, "long fit", "fit of bob"}
    assert {title["user"] for title in own["titles"].values()} == {"alice"}
    assert {job["id"] for job in own["past"]["jobs"]} == {"past0001-1", "past0001-2", "past0001-3"}
    assert "other001" not in str(own)
    ended = {job["id"]: job["ended"] for job in everyone["past"]["jobs"]}
    assert ended["past0001-1"] == "finished"
    assert ended["past0001-3"] == ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        ({"policy": "best"}, 400, "unknown policy 'best'"),
        ({"policy": ""}, 400, "give policy="),
        ({"policy": "fair", "from": 0.0}, 400, "is not a time of up to 6 h"),
        ({"policy": "fair", "from": 1.0, "until": 2.0}, 400, "no decision is on record"),
        ({"policy": "fair", "from": "x"}, 400, "is no time"),
        ({"policy": "fair", "until": "nan"}, 400, "is no time"),
        ({"policy": "fair", "deep": 1}, 400, "unknown parameter 'deep'"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_with_a_sentence(ask, query, status, sentence):
    answer = ask(routes.WHAT_IF, **query)
    assert answer.status_code == status
    assert sentence in answer.json()["error"]


@pytest.mark.slow
def test_what_another_policy_would_have_made_of_it_is_for_administrators(ask):
    assert ask(routes.WHAT_IF, ALICE, policy="fair").status_code == 403
    found = ask(routes.WHAT_IF, policy="fair").json()["what_if"]
    assert found["counted"] == 2
    assert [row["policy"] for row in found["outcomes"]] == ["finish-line", "finish-line", "fair"]


def test_without_a_decision_log_there_is_no_past():
    answer = Web().ask("GET", routes.PAST, params={"from": 1.0, "until": 2.0})
    assert answer.status_code == 404
    assert "decision log" in answer.json()["error"]


def test_the_past_needs_a_token(tmp_path):
    users = {"alice": UserConfig(token_file=token_file(tmp_path, "alice", ALICE))}
    for path in (routes.PAST, routes.WHAT_IF):
        assert Web(make_config(users=users)).ask("GET", path).status_code == 401


@pytest.mark.slow
def test_a_past_minute_is_replayed_and_tried_under_another_policy(scheduler, tmp_path):
    with launched() as browser:
        watched = Watched(browser, scheduler.url, viewport={"width": 1280, "height": 900})
        watched.open("#/history")
        page = watched.page
        page.locator("#token").fill(ADMIN)
        page.keyboard.press("Enter")
        page.locator("p", has_text="decisions shown").wait_for()
        page.locator("#replayed tbody tr").first.wait_for()  # the latest minute, without a click
        page.locator("#range").select_option("600")
        page.locator(".pick .u-over").click(position={"x": 300, "y": 60})
        page.locator("#replayed").wait_for()
        page.locator("#replayed tbody tr").nth(3).wait_for()
        assert page.locator("#replayed a", has_text="<img").count() == 1
        assert page.locator("main img").count() == 0
        page.locator("#after").click()
        page.locator("#replayed p", has_text="decisions").wait_for()
        page.locator("#policy").select_option("fair")
        page.locator("#whatif").click()
        page.locator("#what-if tbody tr").nth(2).wait_for(timeout=60_000)
        assert page.locator("#what-if tbody tr").nth(2).inner_text().startswith("What if\tfair")
        assert page.locator("#what-if p", has_text="2 training jobs began and ended").is_visible()
        assert page.locator("#what-if canvas").count() == 3
        page.locator("#what-if summary").click()
        assert page.get_by_text("Cores are ideal in a replay").is_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        keep(page, tmp_path, "history")
        watched.close()
