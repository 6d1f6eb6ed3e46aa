"""What `slaq jobs` lists, and what it says of the jobs it leaves out."""

import msgspec
import pytest

from slaq.cli._client import EVERY_STATE, Client
from slaq.protocol import JobList
from slaq.records import ENDINGS, LIVING
from tests.cli.command import slaq
from tests.cli.stub import status, view


@pytest.fixture
def asked(monkeypatch):
    """The queries that reach a scheduler which lists four of its five thousand jobs at most."""
    queries = []

    def jobs(_, limit, **query):
        queries.append(query)
        return JobList([view(id=f"a-{n}", group="grid" * (n in (1, 2))) for n in range(min(limit, 4))], 5000)

    monkeypatch.setattr(Client, "jobs", jobs)
    monkeypatch.setattr(Client, "status", lambda _: status())
    return queries


@pytest.mark.parametrize(
    ("limit", "remedy"),
    [("3", "3 of 5000; --limit 5000 shows more"), ("9", "4 of 5000; a --user or --state shows more")],
)
@pytest.mark.usefixtures("asked")
def test_the_remedy_for_what_is_left_out_helps(limit, remedy):
    assert remedy in slaq("jobs", "--state", "all", "--limit", limit).out


@pytest.mark.parametrize("state", [*LIVING, *ENDINGS])
def test_every_state_of_a_job_can_be_asked_for(asked, state):
    assert slaq("jobs", "--state", state).code == 0
    assert asked[-1]["state"] == (state,)


def test_jobs_that_have_not_ended_are_the_default_and_all_is_every_state(asked):
    slaq("jobs")
    slaq("jobs", "--state", "all")
    assert [query["state"] for query in asked] == [("active",), EVERY_STATE]
    assert (*LIVING, *ENDINGS) == EVERY_STATE


def test_a_state_that_does_not_exist_is_refused_with_those_that_do(asked):
    result = slaq("jobs", "--state", "sleeping")
    assert result.code == 2
    assert "over-quota" in result.err
    assert not asked


@pytest.mark.usefixtures("asked")
def test_groups_have_a_line_only_where_several_jobs_are_of_one():
    assert "2 jobs  grid" in slaq("jobs", "--limit", "3").out
    assert "grid" not in slaq("jobs", "--limit", "2").out


@pytest.mark.usefixtures("asked")
def test_watching_is_for_people():
    result = slaq("jobs", "--watch", "--format", "csv")
    assert (result.code, "leave out --format csv" in result.err) == (2, True)


@pytest.mark.usefixtures("asked")
def test_json_is_the_schedulers_answer():
    text = slaq("jobs", "--limit", "2", "--format", "json").out
    assert msgspec.json.decode(text, type=JobList).jobs[1].group == "grid"
