"""What `slaq jobs` says of the jobs it does not show."""

import pytest

from slaq.cli._client import Client
from slaq.protocol import Capacity, JobList, JobView, Status
from tests.cli.command import slaq


def view(number: int) -> JobView:
    texts = {"app": "a", "app_name": "a", "user": "u", "name": "n", "estimator": "e", "reason": ""}
    none = dict.fromkeys(("max_cores", "iteration", "first_loss", "loss", "normalised_loss", "target_loss"))
    nought = dict.fromkeys(("cores", "core_s", "began_at", "ended_at", "seen_at"), 0.0)
    return JobView(
        id=f"a-{number}", state="finished", ml=True, weight=1.0, diverged=False, reports=0, **texts, **none, **nought
    )


@pytest.mark.parametrize(
    ("limit", "remedy"),
    [("3", "3 of 5000; --limit 5000 shows more"), ("9", "4 of 5000; a --user or --state shows more")],
)
def test_the_remedy_for_what_is_left_out_helps(monkeypatch, limit, remedy):
    """A scheduler that lists four of its five thousand jobs, however many are asked for."""
    status = dict.fromkeys(Status.__struct_fields__, 0) | {"capacity": Capacity(4, "fixed")}
    monkeypatch.setattr(Client, "jobs", lambda *_, limit, **__: JobList([view(n) for n in range(min(limit, 4))], 5000))
    monkeypatch.setattr(Client, "status", lambda _: Status(**status))
    assert remedy in slaq("jobs", "--state", "all", "--limit", limit).out
