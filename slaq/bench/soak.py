"""`slaq bench soak`: days of decisions in minutes, and whether memory, disk and decisions stay as they were."""

import gc
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from slaq.bench._chaos.parts import sample
from slaq.bench._output import emit, format_option
from slaq.bench._soak_world import LOG_MB, SIZE_MB, SoakWorld

HOUR_S = 3600.0
WARM_HOURS = 3.0
"""Before memory is compared: by then every bounded table is full."""
SLOPE_MB_PER_DAY = 24.0
"""Growth that is not noise: a job's curve alone, kept by mistake, would be 80 MB a day."""
EPOCH_MS = 1000.0
DISK_SLACK_MB = 17.0
"""Beyond the limits: SQLite's own journal, and the part of the log being written."""


@click.command(name="soak")
@click.option("--hours", default=24.0, show_default=True, help="Time of the scheduler that passes.")
@click.option("--applications", default=16, show_default=True, help="Applications at once, each with one job.")
@click.option("--seed", default=0, show_default=True, help="Of the jobs.")
@format_option
def command(hours: float, applications: int, seed: int, output_format: str) -> None:
    """Run a scheduler and its store for a day of virtual time."""
    facts = measure(hours, applications, seed)
    rows = [
        {"what": what, "measured": facts[key], "bar": bar, "ok": "yes" if good else "no"}
        for what, key, bar, good in (
            ("decisions", "decisions", f"{hours * HOUR_S:g}", facts["decisions"] == int(hours * HOUR_S)),
            ("a decision, 50 % (ms)", "p50_ms", "", True),
            ("a decision, 99.9 % (ms)", "p999_ms", f"< {EPOCH_MS:g}", facts["p999_ms"] < EPOCH_MS),
            ("a decision, longest (ms)", "max_ms", f"< {EPOCH_MS:g}", facts["max_ms"] < EPOCH_MS),
            ("jobs that ended", "ended", "", facts["ended"] > 0),
            ("jobs that were lost", "lost", "", True),
            ("memory after warming up (MB)", "rss_warm_mb", "", True),
            ("memory at the end (MB)", "rss_mb", "", True),
            ("memory, growth a day (MB)", "slope_mb_per_day", f"< {SLOPE_MB_PER_DAY:g}", facts["flat"]),
            ("threads", "threads", "as before", facts["threads"] == facts["threads_warm"]),
            ("open files", "files", "as before", facts["files"] <= facts["files_warm"] + 1),
            ("history, largest (MB)", "history_mb", f"< {SIZE_MB + DISK_SLACK_MB:g}", facts["history_fits"]),
            ("decision log, largest (MB)", "log_mb", f"< {LOG_MB + DISK_SLACK_MB:g}", facts["log_fits"]),
            ("what the scheduler complains of", "problems", "0", facts["problems"] == 0),
        )
    ]
    facts["passed"] = all(row["ok"] == "yes" for row in rows)
    emit(output_format, facts, f"{hours:g} hours of decisions, {applications} applications", rows)
    if not facts["passed"]:
        raise SystemExit(1)


def measure(hours: float, applications: int, seed: int) -> dict[str, Any]:
    """Let the time pass and gather the facts."""
    began_s = time.monotonic()
    decide_s = []
    hourly: list[tuple[float, float, int, int]] = []
    history_mb = log_mb = 0.0
    with tempfile.TemporaryDirectory(prefix="slaq-soak-") as folder:
        world = SoakWorld(Path(folder), applications, seed)
        for epoch in range(int(hours * HOUR_S)):
            decide_s.append(world.epoch())
            if epoch % 600 == 599:
                gc.collect()
                seen = sample(os.getpid())
                assert seen is not None
                hourly.append(((epoch + 1) / HOUR_S, seen.rss_mb, seen.threads, seen.files))
                history_mb, log_mb = max(history_mb, world.disk_mb("history")), max(log_mb, world.disk_mb("decisions"))
        status = world.status()
        world.close()
    took = np.array(decide_s) * 1e3
    warm = [each for each in hourly if each[0] >= min(WARM_HOURS, hours / 2)]
    slope = float(np.polyfit([at for at, *_ in warm], [mb for _, mb, *_ in warm], 1)[0] * 24) if len(warm) > 2 else 0.0
    return {
        "hours": hours,
        "applications": applications,
        "took_s": time.monotonic() - began_s,
        "decisions": status.epoch,
        "p50_ms": float(np.percentile(took, 50)),
        "p999_ms": float(np.percentile(took, 99.9)),
        "max_ms": float(took.max()),
        "ended": world.ended,
        "lost": world.lost,
        "rss_warm_mb": warm[0][1],
        "rss_mb": warm[-1][1],
        "slope_mb_per_day": slope,
        "flat": slope < SLOPE_MB_PER_DAY,
        "threads_warm": warm[0][2],
        "threads": warm[-1][2],
        "files_warm": warm[0][3],
        "files": warm[-1][3],
        "history_mb": history_mb,
        "history_fits": history_mb < SIZE_MB + DISK_SLACK_MB,
        "log_mb": log_mb,
        "log_fits": log_mb < LOG_MB + DISK_SLACK_MB,
        "problems": len(status.problems),
    }
