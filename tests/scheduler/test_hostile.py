"""Hostile input: whatever comes, no failure of ours, no change of state on refusal, bounded memory."""

import json
from urllib.parse import quote

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from slaq.bench._fuzz_requests import CONTROLS
from slaq.config import LimitsConfig
from slaq.protocol import PROTOCOL, Declaration
from slaq.records import Traits
from tests.scheduler.support import job, make_config
from tests.scheduler.web import Web

JSON = {"Content-Type": "application/json"}
PATHS = ["/v1/beat", "/v1/status", "/v1/jobs", "/v1/jobs/victim-1", "/v1/jobs/app0001-1", "/v1/dump", "/metrics"]
scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["<script>alert(1)</script>", "'; DROP TABLE jobs; --", "\x1b[2J", "../../etc", "\u202e", "NaN"])
)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
)


@st.composite
def nearly_beats(draw):
    """Beats that are right but for a few fields."""
    report = st.lists(scalars, max_size=7) | st.just([0.5])
    declared = st.none() | st.fixed_dictionaries({}, optional=dict.fromkeys(Declaration.__struct_fields__, scalars))
    message = st.fixed_dictionaries(
        {"id": st.sampled_from(["1", "2", "victim-1", "../1", ""]) | scalars},
        optional={
            "declared": declared,
            "first": st.integers(-1, 2**54),
            "reports": st.lists(report, max_size=4) | anything,
            "ended": st.none() | st.fixed_dictionaries({}, optional={"outcome": scalars, "at": scalars}),
        },
    )
    beat = st.fixed_dictionaries(
        {"protocol": st.just(PROTOCOL), "app": st.sampled_from(["app0001", "victim"]), "seq": st.integers(0, 50)},
        optional={
            "jobs": st.lists(message, max_size=3) | anything,
            "name": scalars,
            "user": st.sampled_from(["alice", "mallory"]) | scalars,
            "cores": scalars,
            "dropped": scalars,
            "leaving": st.booleans(),
            "incarnation": scalars,
            "extra": anything,
        },
    )
    return json.dumps(draw(beat)).encode()


def fresh() -> Web:
    """A scheduler with somebody else's job in it."""
    web = Web(make_config(limits=LimitsConfig(requests_per_s=1e6, jobs_per_application=50, applications=20)))
    web.post_beat(job("1", 3.0, 2.0, name="mine"), app="victim", user="victim")
    web.epoch()
    return web


@pytest.fixture(scope="module")
def shared() -> Web:
    return fresh()


def state_of(web: Web) -> bytes:
    """Everything a decision depends on, and what people see; without time."""
    web.scheduler.recorder.flush()
    jobs = {
        key: (found.weight, found.life, found.max_cores, found.history, found.reserved_cores)
        for key, found in web.scheduler.recorder.state.jobs.items()
    }
    apps = {app.id: (app.user, app.seq, app.cores, sorted(app.jobs)) for app in web.scheduler.intake.apps.values()}
    return msgspec.msgpack.encode((jobs, apps, web.scheduler.intake.reports))


def assert_harmless(web: Web, response, before: bytes) -> None:
    assert response.status_code < 500, response.text
    json.loads(response.content)
    if response.status_code >= 400:
        assert msgspec.json.decode(response.content)["error"]
        assert state_of(web) == before
    assert web.scheduler.intake.jobs["victim-1"].app.user == "victim"


relaxed = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@given(nearly_beats())
@relaxed
def test_beats_that_are_nearly_right(shared, body):
    before = state_of(shared)
    if b'"app": "victim"' in body:
        body = body.replace(b'"user": "victim"', b'"user": "mallory"')
    response = shared.ask("POST", "/v1/beat", content=body, headers=JSON)
    assert_harmless(shared, response, before)
    shared.epoch(0.01)
    assert all("newer scheduler" in problem for problem in shared.scheduler.epochs.problems.sentences())
    assert shared.scheduler.counters().rejected_events == 0
    assert shared.scheduler.recorder.state.jobs.keys() == shared.scheduler.intake.jobs.keys()


@given(st.sampled_from(PATHS), st.sampled_from(["POST", "PATCH", "PUT", "DELETE"]), anything | st.binary(max_size=200))
@relaxed
def test_bodies_of_any_kind_on_every_route(shared, path, method, body):
    before = state_of(shared)
    content = body if isinstance(body, bytes) else json.dumps(body).encode("utf-8", "surrogatepass")
    assert_harmless(shared, shared.ask(method, path, content=content, headers=JSON), before)


@given(st.text(max_size=60), st.lists(st.tuples(st.text(max_size=10), st.text(max_size=20)), max_size=3))
@relaxed
def test_paths_and_queries_of_any_kind(shared, path, query):
    before = state_of(shared)
    for prefix in ("/v1/jobs", "/v1/jobs/"):
        response = shared.ask("GET", prefix + quote(path.encode("utf-8", "replace"), safe="/%"), params=query)
        assert response.status_code < 500
    assert state_of(shared) == before


@given(st.sampled_from(["authorization", "host", "origin", "content-type", "content-length"]), st.binary(max_size=60))
@relaxed
def test_headers_of_any_kind(shared, name, value):
    before = state_of(shared)
    headers = {b"content-type": b"application/json", name.encode(): value}
    response = shared.ask("POST", "/v1/beat", content=b"{}", headers=headers)
    assert response.status_code in (400, 401, 403, 413, 415)
    assert state_of(shared) == before


@pytest.mark.parametrize("bracket", [b"[", b'{"a":'])
@pytest.mark.parametrize("where", [b"%s", b'{"protocol":2,"app":"app0001","seq":99,"extra":%s', b'{"weight":%s'])
def test_deep_nesting_is_refused(shared, bracket, where):
    before = state_of(shared)
    for method, path in (("POST", "/v1/beat"), ("PATCH", "/v1/jobs/victim-1")):
        response = shared.ask(method, path, content=where.replace(b"%s", bracket * 100_000), headers=JSON)
        assert response.status_code == 400
    assert state_of(shared) == before


def test_numbers_beyond_all_measure_do_not_break_a_decision():
    web = fresh()
    for number, value in enumerate(["1e308", "-1e308", "1e-320", "1e999", "123456789" * 40, "null"]):
        body = (
            f'{{"protocol":{PROTOCOL},"app":"app0001","seq":{number},"user":"alice","jobs":[{{"id":"{number}",'
            f'"declared":{{"max_cores":1e300,"weight":1e6}},"reports":[[1.0],[{value},1,{value},{value},{value},{value}]]}}]}}'
        )
        response = web.ask("POST", "/v1/beat", content=body.encode(), headers=JSON)
        assert response.status_code in (200, 400)
        web.epoch()
        assert web.scheduler.counters().policy_failures == 0
    for path in PATHS[1:4]:
        assert web.ask("GET", path).status_code == 200


def test_many_applications_and_jobs_end_at_the_limits():
    web = fresh()
    for number in range(60):
        messages = [job(str(i), 1.0) for i in range(60)]
        response = web.post_beat(*messages, app=f"flood{number:03}", user="mallory")
        assert response.status_code in (200, 429)
    assert len(web.scheduler.intake.apps) <= 20
    assert len(web.scheduler.intake.jobs) <= 20 * 50
    web.epoch()
    assert web.scheduler.intake.jobs["victim-1"].granted is not None


def test_jobs_without_end_leave_bounded_memory():
    web = fresh()
    for number in range(0, 3000, 100):
        web.beat(*(job(f"j{number + i}", 1.0, ended="finished") for i in range(100)), user="mallory")
    app = web.scheduler.intake.apps["app0001"]
    assert len(app.over) <= 356
    assert len(web.scheduler.archive._rows) <= 1000


def test_no_text_that_is_shown_can_move_a_cursor():
    web = fresh()
    evil = "\x1b[2J\x9b31m\u202e"
    declared = {"name": evil, "estimator": evil, "group": evil, "unstoppable": evil}
    web.post_beat(job("1", 1.0, traits=Traits({evil: evil, "k": 3.0}), **declared), name=evil, user=evil)
    web.epoch()
    shown = [web.ask("GET", path) for path in ("/v1/jobs", "/v1/jobs/app0001-1", "/v1/dump", "/v1/status")]
    shown.append(web.ask("PATCH", "/v1/jobs/app0001-1", content=b'{"stop": true}', headers=JSON))
    assert [answer.status_code for answer in shown] == [200, 200, 200, 200, 409]
    for answer in shown:
        assert not CONTROLS.search(answer.content.decode())
        assert "\\u" not in answer.text
    assert web.ask("GET", "/v1/jobs/app0001-1").json()["params"]["k"] == 3.0


def test_names_are_data_wherever_they_appear():
    web = fresh()
    name = "<script>alert(1)</script>\"';\u2028"
    web.post_beat(job("1", 1.0, name=name, estimator=name), name=name, user="<b>eve</b>")
    for path in ("/v1/jobs", "/v1/jobs/app0001-1", "/v1/dump", "/v1/status", "/metrics"):
        response = web.ask("GET", path)
        assert response.status_code == 200
        assert "text/html" not in response.headers["content-type"]
