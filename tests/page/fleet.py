"""Drivers that beat to a real scheduler, as many as a test wants."""

import math
import time
import urllib.request

import msgspec

from slaq.protocol import PROTOCOL, Beat, Declaration, JobBeat, Report
from slaq.records import Traits

ESTIMATORS = ("LogisticRegression", "KMeans", "GBTClassifier", "ALS", "LDA")


class Fleet:
    """Jobs by number, whose losses fall as those of training do."""

    def __init__(self, url: str, token: str = "") -> None:
        self._url, self._token, self._seq = url, token, 0
        self._reported: dict[tuple[str, str], int] = {}

    def beat(self, app: str, jobs: list[JobBeat], user: str = "alice") -> bytes:
        self._seq += 1
        body = msgspec.json.encode(
            Beat(PROTOCOL, app, self._seq, name=f"program {app}", user=user, cores=16.0, jobs=jobs)
        )
        headers = {"Content-Type": "application/json"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        with urllib.request.urlopen(
            urllib.request.Request(f"{self._url}/v1/beat", body, headers), timeout=10
        ) as answer:
            return answer.read()

    def train(self, app: str, job: str, reports: int, user: str = "alice", name: str = "", **declared) -> None:
        """Report so many further iterations of a job."""
        self.beat(app, [self.message(app, job, reports, name, **declared)], user)

    def message(self, app: str, job: str, reports: int, name: str = "", **declared) -> JobBeat:
        first = self._reported.get((app, job), 0)
        self._reported[app, job] = first + reports
        place = sum(map(ord, job)) % len(ESTIMATORS)
        rate = 4.0 + 5.0 * place
        losses = [0.2 + 0.1 * place + math.exp(-number / rate) for number in range(first, first + reports)]
        declaration = None
        if first == 0:
            traits = Traits(params={"maxIter": 100.0, "regParam": 0.01, "fitIntercept": True})
            declaration = Declaration(
                name or f"fit {job}",
                ESTIMATORS[place],
                began_at=time.time(),
                max_iterations=200,
                traits=traits,
                **declared,
            )
        return JobBeat(job, declaration, first, [Report(loss, first + at, 0.4, 0.01) for at, loss in enumerate(losses)])
