"""`slaq bench load`: thousands of agents against one scheduler process on one core."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from slaq.bench._output import emit, format_option
from slaq.errors import SlaqError

P99_MS, SLOPE_MB = 250.0, 5.0
"""The bars: a beat's 99th percentile, and growth of memory per minute that is not noise."""
LEAST_BEATS = 0.95
"""Of one a second: the last of an agent may fall behind the end."""
CORES_PER_AGENT = 3


@dataclass(frozen=True, slots=True)
class Sample:
    """The scheduler process at one moment."""

    at: float
    rss_mb: float
    cpu_s: float


@click.command(name="load")
@click.option("--agents", default=5000, show_default=True, help="Agents, each with one job and one connection.")
@click.option("--seconds", default=60.0, show_default=True, help="Time measured, after all agents have joined.")
@click.option("--ramp", "ramp_s", default=20.0, show_default=True, help="Time over which the agents join.")
@click.option("--processes", default=1, show_default=True, help="Processes the agents are spread over.")
@click.option("--pages", default=0, show_default=True, help="Pages that people have open meanwhile.")
@format_option
def command(agents: int, seconds: float, ramp_s: float, processes: int, pages: int, output_format: str) -> None:
    """Beat once a second with thousands of agents against one scheduler process on one core.

    Every agent brings a full history when it joins and one report with each beat. The scheduler writes its
    history and decision log as always.
    """
    facts = measure(agents, seconds, ramp_s, processes, pages)
    rows = [
        {"what": what, "measured": facts[key], "bar": bar, "ok": "yes" if good else "no"}
        for what, key, bar, good in (
            ("beats a second", "beats_per_s", f"~{agents}", facts["beats_per_s"] > LEAST_BEATS * agents),
            ("a beat, 50 %", "p50_ms", "", True),
            ("a beat, 99 % (ms)", "p99_ms", f"< {P99_MS:g}", facts["p99_ms"] < P99_MS),
            ("a beat, longest (ms)", "max_ms", "", True),
            ("epochs", "epochs", f"~{seconds:g}", facts["epochs"] >= seconds - 2),
            ("epochs late or skipped", "epochs_late", "0", facts["epochs_late"] == 0),
            ("reports lost", "reports_lost", "0", facts["reports_lost"] == 0),
            ("failed beats", "failures", "0", facts["failures"] == 0),
            ("beats answered without a grant", "without_grant", "0", facts["without_grant"] == 0),
            ("memory (MB)", "rss_mb", "", True),
            (
                "memory, growth a minute (MB)",
                "rss_slope_mb_per_min",
                "~0",
                facts["rss_slope_mb_per_min"] < SLOPE_MB,
            ),
            ("share of its core used", "cpu_share", "< 1", True),
            ("share of a core used by the agents", "agents_cpu_share", "< 1", True),
            ("a decision (ms)", "decide_ms", "", True),
            ("open pages", "pages", "", True),
            ("seconds between two looks of a page", "look_s", "", True),
        )
    ]
    facts["passed"] = all(row["ok"] == "yes" for row in rows)
    emit(output_format, facts, f"{agents} agents, one scheduler on one core, {seconds:g} s", rows)


def measure(agents: int, seconds: float, ramp_s: float, processes: int, pages: int = 0) -> dict[str, Any]:
    """Run the load and gather the facts."""
    with tempfile.TemporaryDirectory() as folder, _scheduler(folder, agents * CORES_PER_AGENT) as (process, port):
        each = [len(part) for part in np.array_split(np.arange(agents), processes)]
        clients = [_client(port, sum(each[:number]), count, ramp_s, seconds) for number, count in enumerate(each)]
        time.sleep(ramp_s)
        viewers = _beside("slaq.bench._load_pages", port, pages, seconds)
        before, samples = _status(port), []
        for _ in range(int(seconds)):
            samples.append(_sample(process.pid))
            time.sleep(1.0)
        during = _status(port)
        found = [json.loads(client.communicate(timeout=ramp_s + 60)[0]) for client in clients]
        viewed = json.loads(viewers.communicate(timeout=60)[0])
        after = _status(port)
    latencies = np.sort(np.concatenate([part["latencies"] for part in found])) * 1e3
    if not len(latencies):
        raise SlaqError("no beat was answered while it was measured; give --seconds 5 or more")
    rss = np.array([sample.rss_mb for sample in samples])
    at = np.array([sample.at for sample in samples])
    span = float(at[-1] - at[0])
    return {
        "agents": agents,
        "seconds": seconds,
        "beats": len(latencies),
        "beats_per_s": len(latencies) / seconds,
        "p50_ms": float(np.percentile(latencies, 50)),
        "p99_ms": float(np.percentile(latencies, 99)),
        "max_ms": float(latencies[-1]),
        "p99_ms_by_tenth": _by_tenth(found, seconds),
        "agents_cpu_share": max(part["cpu_s"] / part["lived_s"] for part in found),
        "epochs": during["epoch"] - before["epoch"],
        "epochs_late": during["epochs_late"] - before["epochs_late"],
        "epochs_late_in_ramp": before["epochs_late"],
        "reports_lost": sum(part["sent"] for part in found) - after["reports"],
        "failures": sum(part["failures"] for part in found),
        "first_failure": next((part["first_failure"] for part in found if part["failures"]), ""),
        "without_grant": sum(part["ungranted"] for part in found),
        "jobs": during["jobs"]["running"],
        "rss_mb": float(rss[-1]),
        "rss_slope_mb_per_min": float(np.polyfit(at - at[0], rss, 1)[0] * 60),
        "cpu_share": (samples[-1].cpu_s - samples[0].cpu_s) / span,
        "decide_ms": during["decide_s"] * 1e3,
        "pages": pages,
        "look_s": pages * seconds / viewed["looks"] if viewed["looks"] else 0.0,
        "page_failures": viewed["failures"],
        "problems": during["problems"],
    }


def _by_tenth(found: list[dict[str, Any]], seconds: float) -> list[float]:
    """The 99th percentile in each tenth of the time, in milliseconds: whether something builds up."""
    at = np.concatenate([part["answered_at"] for part in found])
    latencies = np.concatenate([part["latencies"] for part in found])
    tenth = np.clip((10 * at / seconds).astype(int), 0, 9)
    return [float(np.percentile(latencies[tenth == n], 99) * 1e3) for n in range(10) if (tenth == n).any()]


@contextmanager
def _scheduler(folder: str, cores: int) -> Iterator[tuple["subprocess.Popen[str]", int]]:
    """A scheduler process that may use one core only, and its port."""
    command = [sys.executable, "-m", "slaq.cli", "scheduler", "--port", "0", "--state-dir", folder]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("SLAQ_")}
    process = subprocess.Popen([*command, "--capacity", str(cores)], stdout=subprocess.PIPE, text=True, env=environment)
    try:
        os.sched_setaffinity(process.pid, {min(os.sched_getaffinity(0))})
        assert process.stdout is not None
        said = process.stdout.readline()
        if "listens on" not in said:
            raise SlaqError(f"the scheduler did not start: {said.strip()!r}")
        yield process, int(said.rpartition(":")[2])
    finally:
        process.terminate()
        process.wait(timeout=15)


def _client(port: int, first: int, count: int, ramp_s: float, seconds: float) -> "subprocess.Popen[str]":
    return _beside("slaq.bench._load_agents", port, first, count, ramp_s, seconds)


def _beside(module: str, *arguments: float) -> "subprocess.Popen[str]":
    """A process that keeps off the scheduler's core, if there is another."""
    command = [sys.executable, "-m", module, *map(str, arguments)]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    others = os.sched_getaffinity(0) - {min(os.sched_getaffinity(0))}
    if others:
        os.sched_setaffinity(client.pid, others)
    return client


def _status(port: int) -> dict[str, Any]:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/status", timeout=60) as response:
        status: dict[str, Any] = json.load(response)
        return status


def _sample(pid: int) -> Sample:
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    return Sample(time.monotonic(), int(fields[21]) * page / 1e6, (int(fields[11]) + int(fields[12])) / tick)
