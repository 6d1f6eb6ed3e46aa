"""The evidence of a run: what agents wrote down, what the scheduler kept, what its logs replay to."""

import json
import time
import urllib.error
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from slaq.bench._chaos.evidence import Contact, Decision, Evidence, Kept, Life, Log, Watched
from slaq.bench._chaos.trainers import FULL_CORES, loss_of, model_of
from slaq.bench._chaos.world import CAPACITY, EPOCH_S, LEASE_S, World
from slaq.engine import Allocated, EpochEnded
from slaq.engine.log import read, replayed
from slaq.errors import SlaqError
from slaq.protocol.routes import JOBS

SETTLE_LEASES = 3
PAGE = 1000
HEAL_S = 2.0
UNREADABLE = (OSError, urllib.error.HTTPError, ValueError)


def gather(world: World, began_s: float, ended_s: float) -> Evidence:
    """Everything but the faults; ends the scheduler."""
    lives, contacts = _journals(world)
    time.sleep(SETTLE_LEASES * LEASE_S)  # applications that were killed are lost by now
    world.watch()
    history = _history(world)
    if (code := world.scheduler.end()) != 0:
        world.surprises.append(f"at the end the scheduler took SIGTERM and ended with {code}")
    for program in world.trainers:
        if program.alive or program.process is None or program.process.returncode != 0:
            world.note_exit(program)
    return Evidence(
        began_s=began_s,
        ended_s=ended_s,
        capacity=CAPACITY,
        epoch_s=EPOCH_S,
        lease_s=LEASE_S,
        lives=lives,
        contacts=contacts,
        history=history,
        history_since_s=world.history_since_s,
        logs=tuple(_log(file, world) for file in sorted(world.volume.folder.glob("decisions-*.log"))),
        watched=tuple(
            Watched(program.name, tuple(samples)) for program in world.programs() for samples in program.samples
        ),
        files={file.name: file.stat().st_size for file in world.volume.folder.iterdir()},
        starts=world.scheduler.starts,
        surprises=(*world.surprises, *world.tracebacks()),
    )


def _journals(world: World) -> tuple[tuple[Life, ...], tuple[Contact, ...]]:
    lines: dict[str, list[list[Any]]] = defaultdict(list)
    for journal in world.journals():
        for line in journal.read_text().splitlines():
            entry = json.loads(line)
            lines[entry[2]].append(entry)
    lives = [life for app, entries in lines.items() for life in _lives(app, entries)]
    return tuple(lives), tuple(_contact(world, app, entries) for app, entries in lines.items())


def _lives(app: str, entries: list[list[Any]]) -> Iterator[Life]:
    jobs: dict[str, list[list[Any]]] = defaultdict(list)
    for entry in entries:
        if entry[1] in ("begin", "report", "cores", "end"):
            jobs[entry[3]].append(entry)
    for job, about in jobs.items():
        end = next((entry for entry in about if entry[1] == "end"), None)
        begin = next(entry for entry in about if entry[1] == "begin")
        yield Life(
            app=app,
            job=job,
            full=FULL_CORES,
            expected_model=model_of(begin[4]),
            began_s=begin[0],
            losses=tuple(loss_of(app, int(job), entry[4]) for entry in about if entry[1] == "report"),
            cores=tuple((entry[0], entry[4]) for entry in about if entry[1] == "cores"),
            ended_s=None if end is None else end[0],
            model=None if end is None else end[4],
        )


def _contact(world: World, app: str, entries: list[list[Any]]) -> Contact:
    return Contact(
        app=app,
        renewed_s=tuple(entry[0] for entry in entries if entry[1] == "renewed"),
        opened_s=tuple(entry[0] for entry in entries if entry[1] == "opened"),
        died_s=world.died.get(app),
        silent=tuple(world.silent.get(app, ())),
        delivered_s=world.proxy.delivered.get(app, 0.0),
        dropped=next((entry[3] for entry in entries if entry[1] == "closed"), 0),
    )


def _history(world: World) -> dict[str, Kept]:
    # The first question may be what finds a damaged database, and is answered without it.
    with suppress(*UNREADABLE):
        _asked(world)
    time.sleep(HEAL_S)
    try:
        return _asked(world)
    except UNREADABLE as error:
        world.surprises.append(f"the history could not be read: {error}")
        return {}


def _asked(world: World) -> dict[str, Kept]:
    found: dict[str, Kept] = {}
    total = PAGE
    while len(found) < total:
        page = world.get(f"{JOBS}?limit={PAGE}&offset={len(found)}")
        total = page["total"]
        if not page["jobs"]:
            break
        for view in page["jobs"]:
            detail = world.get(f"{JOBS}/{view['id']}")
            losses = tuple(point[2] for point in detail["losses"])
            found[view["id"]] = Kept(view["state"], view["reports"], losses)
    return found


def _log(file: Path, world: World) -> Log:
    decisions: list[Decision] = []
    differing: list[int] = []
    error = ""
    try:
        with file.open("rb") as source:
            for epoch, _, effects in replayed(*read(source, file.name)):
                # As bytes: the history of a job without a loss holds NaN, which equals nothing.
                if msgspec.msgpack.encode(epoch.effects) != msgspec.msgpack.encode(effects):
                    differing.append(len(decisions))
                decisions += _decisions(epoch)
    except SlaqError as damage:
        error = str(damage)
    except Exception as defect:  # a damaged log must not end in a stack trace
        world.surprises.append(f"{file.name} replays to {type(defect).__name__}: {defect}")
    return Log(file.name, tuple(decisions), tuple(differing), error, file.name in world.damaged_logs)


def _decisions(epoch: Any) -> Iterator[Decision]:
    at_s = next((event.now_s for event in epoch.events if isinstance(event, EpochEnded)), 0.0)
    for effect in epoch.effects:
        if isinstance(effect, Allocated):
            yield Decision(at_s, effect.decision.cores)
