"""`slaq bench connect`: two users of one Spark Connect server, with SLAQ and with Spark's FAIR alone."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import click
import msgspec
from msgspec import Struct

from slaq.bench import _connect_client
from slaq.bench._connect_log import Used, used
from slaq.bench._output import emit, format_option
from slaq.errors import SlaqError

FEW, MANY = "ann", "ben"
CAP = 0.5
"""Cores of the second user, in the last part."""
SETTLE_S = 5.0
"""After a change, before it counts."""
START_S = 300.0
SHARE_BAR, CAP_BAR, T90_BAR = 0.03, 0.02, 0.5
LAST_BEAT_S = 2.0
"""After a fit, until the scheduler has all its losses."""


class Shared(Struct, frozen=True):
    """One fit of one user against many of another."""

    t90_s: float
    """Until the first user's fit had 90 % of its loss reduction."""
    jobs_to_90: int
    """Spark jobs of that user by then: the same fit takes the same jobs on any server."""
    cpu_s: dict[str, float]
    """By user, from a settled begin to the end of the first user's fit."""
    held_s: dict[str, float]
    cap_cpu_cores: float | None
    """CPU time and slots of the second user under the limit, in cores; None: not measured."""
    cap_held_cores: float | None


@click.command(name="connect")
@click.option("--fits", default=20, show_default=True, type=click.IntRange(min=1), help="Of the second user, at once.")
@click.option("--iterations", default=150, show_default=True, type=click.IntRange(min=5), help="Of every fit.")
@click.option("--rows", default=500_000, show_default=True, type=click.IntRange(min=100), help="Of each user's data.")
@click.option("--cap-seconds", "cap_s", default=20.0, show_default=True, help="Time measured under the limit.")
@click.option(
    "--cores", default=os.cpu_count() or 2, show_default="all", type=click.IntRange(min=1), help="Cores of each server."
)
@click.option("--memory", default="6g", show_default=True, help="Of each server.")
@format_option
def command(fits: int, iterations: int, rows: int, cap_s: float, cores: int, memory: str, output_format: str) -> None:
    """One fit of a user against many of another, each in a client process of their own, on one Spark Connect server.

    First on `slaq connect up`, then on the same server with Spark's FAIR scheduler and nothing of SLAQ but the agent
    that would read losses. What each user got is taken from Spark's event log.
    """
    size = [str(iterations), str(rows)]
    with_slaq = measure(fits, size, cores, memory, cap_s, None)
    plain = measure(fits, size, cores, memory, 0.0, with_slaq.jobs_to_90)
    found = rows_of(with_slaq, plain, cores)
    facts = {
        "with_slaq": msgspec.to_builtins(with_slaq),
        "plain": msgspec.to_builtins(plain),
        "passed": all(row["ok"] != "no" for row in found),
    }
    emit(output_format, facts, f"1 fit of {FEW} against {fits} of {MANY} on {cores} cores", found)


def rows_of(with_slaq: Shared, plain: Shared, cores: int) -> list[dict[str, Any]]:
    """The measures with their bars."""
    rows = []
    for what, part, bar in (
        ("CPU time", lambda run: run.cpu_s, SHARE_BAR),
        ("slots held", lambda run: run.held_s, None),
    ):
        ours, theirs = (part(run)[FEW] / sum(part(run).values()) for run in (with_slaq, plain))
        rows.append(_row(f"{FEW}'s share of {what}", ours, theirs, bar and f"0.5 ± {bar}", bar, abs(ours - 0.5)))
    if with_slaq.cap_cpu_cores is not None and with_slaq.cap_held_cores is not None:
        cpu, bar = with_slaq.cap_cpu_cores, f"{CAP} ± {CAP_BAR * cores:g}"
        rows.append(_row(f"{MANY}'s CPU time under a limit (cores)", cpu, None, bar, CAP_BAR, abs(cpu - CAP) / cores))
        rows.append(_row(f"{MANY}'s slots held under a limit (cores)", with_slaq.cap_held_cores))
    ratio = with_slaq.t90_s / plain.t90_s
    rows.append(_row(f"s until {FEW}'s fit is at 90 %", with_slaq.t90_s, plain.t90_s, "half of FAIR's", T90_BAR, ratio))
    return rows


def _share(by_user: Mapping[str, float]) -> float:
    return by_user[FEW] / sum(by_user.values())


def _row(
    what: str,
    ours: float,
    theirs: float | None = None,
    bar: str = "",
    limit: float | None = None,
    value: float = 0.0,
) -> dict[str, Any]:
    good = "" if limit is None else "yes" if value <= limit else "no"
    return {"measure": what, "slaq": ours, "FAIR": "" if theirs is None else theirs, "bar": bar, "ok": good}


def measure(fits: int, size: list[str], cores: int, memory: str, cap_s: float, jobs_to_90: int | None) -> Shared:
    """One server. With `jobs_to_90` it is plain, and the run ends when the first user's fit has done so many jobs."""
    with tempfile.TemporaryDirectory(prefix="slaq-connect-") as name, ExitStack() as running:
        folder, events = Path(name), Path(name) / "events"
        events.mkdir()
        conf = {
            "spark.eventLog.enabled": "true",
            "spark.eventLog.dir": events.as_uri(),
            "spark.eventLog.compress": "false",
            "spark.eventLog.rolling.enabled": "false",
            "spark.sql.shuffle.partitions": str(2 * cores),
        }
        if jobs_to_90 is not None:
            conf |= {"spark.slaq.enabled": "false", "spark.scheduler.mode": "FAIR"}
        there = running.enter_context(_server(folder / "server", cores, memory, conf))
        many = running.enter_context(_client(there, MANY, fits, size, "always", folder))
        few = running.enter_context(_client(there, FEW, 1, size, "once", folder))
        warm = running.enter_context(
            _client(there, "warm", 2, [str(max(int(size[0]) // 4, 2)), size[1]], "once", folder)
        )
        _say(warm, "over")
        _go(many)
        time.sleep(2 * SETTLE_S)
        began = time.time()
        _go(few)
        if jobs_to_90 is None:
            _hear(few, "over")
        else:
            _until_jobs(events, jobs_to_90, began)
        ended = time.time()
        capped = None
        if cap_s:
            _limit(folder / "server", there)
            time.sleep(2 * SETTLE_S)
            capped = (time.time(), time.time() + cap_s)
            time.sleep(cap_s + SETTLE_S)
        at_90 = None if jobs_to_90 is not None else _reached_90(there)
        by_user = _log(events)
        return _shared(by_user, began, ended, capped, at_90, jobs_to_90)


def _shared(
    by_user: Mapping[str, Used],
    began: float,
    ended: float,
    capped: tuple[float, float] | None,
    at_90: float | None,
    jobs_to_90: int | None,
) -> Shared:
    ends = [end for start, end in by_user[FEW].jobs if start >= began]
    if jobs_to_90 is None:
        assert at_90 is not None
        jobs_to_90 = max(sum(end <= at_90 for end in ends), 1)
    settled = began + SETTLE_S
    window = capped or (0.0, 0.0)
    of_many = by_user[MANY]
    length_s = window[1] - window[0]
    return Shared(
        t90_s=ends[jobs_to_90 - 1] - began,
        jobs_to_90=jobs_to_90,
        cpu_s={user: by_user[user].cpu_s(settled, ended) for user in (FEW, MANY)},
        held_s={user: by_user[user].held_s(settled, ended) for user in (FEW, MANY)},
        cap_cpu_cores=of_many.cpu_s(*window) / length_s if length_s else None,
        cap_held_cores=of_many.held_s(*window) / length_s if length_s else None,
    )


@contextmanager
def _server(folder: Path, cores: int, memory: str, conf: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    """`slaq connect up` and, at the end, `down`."""
    command = [sys.executable, "-m", "slaq.cli", "connect"]
    settings = [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]
    up = [*command, "up", f"--dir={folder}", f"--cores={cores}", f"--memory={memory}", "--epoch=0.5", *settings]
    try:
        there = subprocess.run([*up, "--format=json"], capture_output=True, text=True)
        if there.returncode:
            raise SlaqError(f"the Connect server did not start: {there.stderr.strip()}")
        yield json.loads(there.stdout)
    finally:
        subprocess.run([*command, "down", f"--dir={folder}"], capture_output=True)


@contextmanager
def _client(
    there: Mapping[str, Any], user: str, fits: int, size: list[str], how: str, folder: Path
) -> Iterator["subprocess.Popen[str]"]:
    """A client whose data are ready."""
    command = [sys.executable, _connect_client.__file__, f"{there['remote']}/;user_id={user}", f"fit of {user}"]
    with (folder / f"{user}.log").open("w") as log:
        client = subprocess.Popen(
            [*command, str(fits), *size, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        _hear(client, "ready")
        yield client
    finally:
        client.kill()
        client.communicate()


def _go(client: "subprocess.Popen[str]") -> None:
    assert client.stdin is not None
    client.stdin.write("go\n")
    client.stdin.flush()


def _say(client: "subprocess.Popen[str]", answer: str) -> None:
    _go(client)
    _hear(client, answer)


def _hear(client: "subprocess.Popen[str]", expected: str) -> None:
    assert client.stdout is not None
    heard = client.stdout.readline() if select.select([client.stdout], [], [], START_S)[0] else ""
    if heard.strip() != expected:
        raise SlaqError(f"a client said {heard.strip()!r} instead of {expected!r} within {START_S:.0f} s")


def _limit(folder: Path, there: Mapping[str, Any]) -> None:
    """Give the second user a limit while fits run."""
    conf = folder / "conf" / "slaq.toml"
    conf.write_text(f"{conf.read_text()}\n[users.{MANY}]\nmax_cores = {CAP}\n")
    pid = next(part["pid"] for part in there["processes"] if part["role"] == "scheduler")
    os.kill(pid, signal.SIGHUP)


def _until_jobs(events: Path, jobs: int, began: float) -> None:
    deadline = time.time() + 2 * START_S
    while time.time() < deadline:
        mine = _log(events).get(FEW, Used()).jobs
        if sum(start >= began for start, _ in mine) >= jobs:
            return
        time.sleep(1.0)
    raise SlaqError(f"{FEW}'s fit did not get to 90 % within {2 * START_S:.0f} s; give smaller sizes")


def _log(events: Path) -> dict[str, Used]:
    (log,) = events.iterdir()
    with log.open(encoding="utf-8") as lines:
        return used(line for line in lines if line.endswith("\n"))


def _reached_90(there: Mapping[str, Any]) -> float:
    """When the first user's fit had 90 % of its loss reduction, by the losses that the scheduler has."""
    time.sleep(LAST_BEAT_S)
    at = ["--endpoint", there["endpoint"], "--format=json"]
    jobs = _ask("jobs", "--user", FEW, "--state=all", *at)["jobs"]
    (job,) = [job["id"] for job in jobs if job["estimator"] == "LogisticRegression"]
    losses = _ask("job", job, *at)["losses"]
    first, last = losses[0][2], losses[-1][2]
    return float(next(at_s for at_s, _, loss in losses if loss <= first - 0.9 * (first - last)))


def _ask(*arguments: str) -> dict[str, Any]:
    answer = subprocess.run([sys.executable, "-m", "slaq.cli", *arguments], capture_output=True, text=True)
    if answer.returncode:
        raise SlaqError(f"`slaq {' '.join(arguments)}` failed: {answer.stderr.strip()}")
    found: dict[str, Any] = json.loads(answer.stdout)
    return found
