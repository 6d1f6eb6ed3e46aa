"""Losses as TensorBoard event files: a folder for each session, in it one for each fit.

TensorBoard then lays the curves over each other. The extra `tensorboard` brings the format of the records.
"""

import json
import struct
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from slaq.driver.tracked import CUSTOM
from slaq.driver.tracking import CurveNames, Measured, RunLogger
from slaq.errors import SlaqError
from slaq.spark.records import Begin

TAG = "loss"
VERSION = "brain.Event:2"
"""Of the files, as their first record says."""


def event_logger(folder: str, app: str) -> RunLogger:
    """What writes the losses of one session below the folder; a SlaqError if that cannot work."""
    try:
        import tensorboardX.record_writer
        import tensorboardX.summary  # noqa: F401 - missing now is better than missing with the first loss
    except ImportError as error:
        raise SlaqError(f"`tensorboard` needs {error.name}; run: pip install 'slaq[tensorboard]'") from None
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SlaqError(f"tensorboard: {folder} cannot be a folder for event files ({error.strerror})") from None
    names = CurveNames()
    session = names.name("", f"{app}-{time.strftime('%Y%m%d-%H%M%S')}")
    return RunLogger(EventFiles(Path(folder)).append, names, _place(session), "TensorBoard's files")


class EventFiles:
    """Appends to one file a fit; none stays open, however many fits there are."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sessions: dict[str, Path] = {}
        self._began_s = int(time.time())

    def append(self, session: str, losses: Sequence[Measured]) -> None:
        """Write these losses."""
        by_curve: dict[str, list[Measured]] = {}
        for each in losses:
            by_curve.setdefault(each.curve, []).append(each)
        for curve, points in by_curve.items():
            place = self._session(session) / curve
            place.mkdir(exist_ok=True)
            with open(place / f"events.out.tfevents.{self._began_s}.slaq", "ab") as file:
                _write(file, points)

    def _session(self, name: str) -> Path:
        """The session's folder, made with its first loss; one of its own also beside a session of the same second."""
        number = 1
        while name not in self._sessions:
            folder = self._folder / (name if number == 1 else f"{name}-{number}")
            try:
                folder.mkdir()
                self._sessions[name] = folder
            except FileExistsError:
                number += 1
        return self._sessions[name]


def _place(session: str) -> Callable[[Begin], tuple[str, str]]:
    return lambda begin: (session, begin.name if begin.estimator == CUSTOM else begin.estimator)


def _write(file: BinaryIO, points: Sequence[Measured]) -> None:
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.summary import Summary, text

    events: list[Any] = []
    if file.tell() == 0:
        events.append(Event(wall_time=points[0].at_ms / 1000.0, file_version=VERSION))
    for point in points:
        at_s = point.at_ms / 1000.0
        if point.params and point.params != "{}":
            shown = "".join(f"    {line}\n" for line in _lines(point.params))  # indented: Markdown for "as it is"
            events.append(Event(wall_time=at_s, step=0, summary=text("parameters", shown)))
        value = Summary(value=[Summary.Value(tag=TAG, simple_value=point.value)])
        events.append(Event(wall_time=at_s, step=point.step, summary=value))
    # One write: a reader never sees half of a batch but for a crash, and readers wait for the rest of a record.
    file.write(b"".join(_record(event.SerializeToString()) for event in events))


def _record(data: bytes) -> bytes:
    from tensorboardX.record_writer import masked_crc32c

    length = struct.pack("<Q", len(data))
    return b"".join((length, struct.pack("<I", masked_crc32c(length)), data, struct.pack("<I", masked_crc32c(data))))


def _lines(params: str) -> list[str]:
    try:
        return json.dumps(json.loads(params), indent=1).splitlines()
    except ValueError:  # cut short
        return [params]
