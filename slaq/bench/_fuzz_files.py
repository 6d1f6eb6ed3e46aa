"""Files that people give SLAQ: conf files, decision logs, journals, recordings, loss curves, past fits."""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from slaq.bench._fuzzing import BrokenError
from slaq.bench._grammar import ODD, drawer, message, odd, spoiled, spoiled_bytes
from slaq.config import KEYS, load, template
from slaq.config.keys import SECTIONS, Key
from slaq.config.tuning import tuning_keys
from slaq.driver import journal
from slaq.driver.status import JobStatus
from slaq.engine import EpochEnded, Event, JobJoined, JobReported, State, log
from slaq.engine.log import Epoch
from slaq.engine.step import run
from slaq.errors import SlaqError
from slaq.model import Job, PastFit, Report
from slaq.scheduler.store.fits_file import HEADER, DamagedError, FitsFile
from slaq.sim import recording
from slaq.sim.curves import read_curves
from slaq.sim.streams import Stream
from slaq.workload.replay import replayable, saved_runs, stream_of
from slaq.workload.results import StreamRun

Read = Callable[[Path], object]
Write = Callable[[Random], bytes]


class FileTarget:
    """One kind of file: drawn, written and read. Reading ends well, or with a SlaqError that names the file."""

    def __init__(self, name: str, write: Write, read: Read, folder: Path) -> None:
        self.name = name
        self._write, self.read = write, read
        self._file = folder / name.replace(" ", "-")

    def case(self, random: Random) -> str:
        """See Target.case."""
        self._file.write_bytes(self._write(random))
        try:
            self.read(self._file)
        except SlaqError as error:
            if not str(error):
                raise BrokenError("the file was refused without a sentence") from None
            return "refused"
        except DamagedError:
            return "set aside"
        return "read"

    def check(self) -> None:
        """Nothing of a file stays."""

    def close(self) -> None:
        """See Target.close."""


def file_targets(folder: Path) -> list[FileTarget]:
    """All kinds of files, written into a folder."""
    return [
        FileTarget("conf files", conf_text, lambda path: load(path, env={}), folder),
        FileTarget("decision logs", Logs(), lambda path: recording.workload_of(recording.read(path)), folder),
        FileTarget("journals", lines_of(JobStatus), journal.read, folder),
        FileTarget("recordings", json_of(list[StreamRun]), _streams, folder),
        FileTarget("loss curves", curves_text, read_curves, folder),
        FileTarget("past fits", lines_of(PastFit, HEADER + b"\n"), lambda path: FitsFile(path).read(), folder),
    ]


def conf_text(random: Random) -> bytes:
    """A conf file: a few keys under their sections, some of them wrong."""
    if random.random() < 0.02:
        return spoiled_bytes(random, template().encode())
    lines = []
    for key in random.sample(KEYS, random.randint(1, 4)):
        section, _, field = key.name.replace("NAME", random.choice(("alice", "*", '"x y"'))).rpartition(".")
        lines += [f"[{section}]"] * bool(section)
        lines.append(f"{field} = {_toml(random, key)}")
    if random.random() < 0.2:
        lines += [random.choice(("[tuning]", "[users]", f"[{random.choice(SECTIONS)}]", "[[users]]", "a.b.c = 1"))]
        lines.append(f"{random.choice(tuning_keys()).partition('.')[2]} = {_toml_odd(random)}")
    text = "\n".join(lines).encode("utf-8", "surrogatepass")
    return spoiled_bytes(random, text) if random.random() < 0.3 else text


def _toml(random: Random, key: Key) -> str:
    if random.random() < 0.4:
        return _toml_odd(random)
    rule = key.rule
    if key.kind is bool:
        return random.choice(("true", "false"))
    if key.kind is str:
        return json.dumps(random.choice(rule.allowed() or ("http://here:1", "x.pem", "~/y", "")))
    low, high = max(rule.low, -10.0), min(rule.high, 1000.0)
    return f"{random.uniform(low, high):.3f}" if key.kind is float else str(int(random.uniform(low, high)))


def _toml_odd(random: Random) -> str:
    value = odd(random)
    texts = ("inf", "nan", "-inf", "1_000", "0xff", "1e400", "9" * 400, "9" * 5000, "[1,", "{a=1}", "1979-05-27", "'''")
    if random.random() < 0.4 or value is None or isinstance(value, float):
        return random.choice(texts)
    return json.dumps(value)


def json_of(kind: Any) -> Write:
    """Writes one JSON document of this type."""
    draw = drawer(kind)
    return lambda random: message(random, draw)


def lines_of(kind: Any, header: bytes = b"") -> Write:
    """Writes lines of JSON of this type."""
    draw = drawer(kind)

    def write(random: Random) -> bytes:
        text = header + b"".join(message(random, draw) + b"\n" for _ in range(random.randrange(4)))
        return spoiled_bytes(random, text) if random.random() < 0.1 else text

    return write


def curves_text(random: Random) -> bytes:
    """A file of loss curves."""
    runs = [
        {"algorithm": "LogReg", "optimizer": "gd", "kind": "good", "params": {"task": "x"}, "losses": [3.0, 2.0, 1.5]}
        for _ in range(random.randint(1, 2))
    ]
    return message(random, lambda _: [{**run, random.choice(list(run)): random.choice(ODD)} for run in runs])


class Logs:
    """Writes decision logs: a right one, with changes inside its records and to its pieces."""

    def __init__(self) -> None:
        state = State(cores=4, policy="fair", epoch_s=1.0)
        first = state
        epochs: list[Epoch] = []
        for number in range(3):
            at_s = float(number)
            events: list[Event] = [JobJoined(at_s, Job(f"app0001-{number}", "alice", estimator="KMeans"))]
            report = Report(3.0 - at_s, work_core_s=1.0)
            events += [JobReported(at_s, f"app0001-{n}", (report,)) for n in range(number)]
            events.append(EpochEnded(at_s + 0.5))
            state, effects = run(state, events)
            epochs.append(Epoch(events, effects))
        self._pieces = [log.Header(log.FORMAT, "0.2.0"), first, *epochs]

    def __call__(self, random: Random) -> bytes:
        trees = [msgspec.to_builtins(piece, builtin_types=(bytes,)) for piece in self._pieces]
        if random.random() < 0.7:
            at = random.randrange(len(trees))
            trees[at] = spoiled(random, trees[at])
        pieces = [self._piece(random, tree) for tree in trees]
        if random.random() < 0.2:
            random.shuffle(pieces)
        written = b"".join(pieces)
        return spoiled_bytes(random, written) if random.random() < 0.2 else written

    def _piece(self, random: Random, tree: Any) -> bytes:
        try:
            packed = msgspec.msgpack.encode(tree)
        except (OverflowError, UnicodeEncodeError, msgspec.MsgspecError):  # JSON can say what msgpack cannot
            packed = random.randbytes(20)
        if random.random() < 0.02:
            packed = spoiled_bytes(random, packed)
        packed = zlib.compress(packed, 1)
        length = random.choice((0, 1, 2**31, 2**30 - 1)) if random.random() < 0.01 else len(packed)
        return length.to_bytes(4, "big") + packed


def _streams(path: Path) -> list[Stream]:
    return [stream_of(run) for run in saved_runs(path) if replayable(run)]
