"""The decision log: every event and every decision, in pieces that replay to the identical decisions.

A log begins with a header that names its format and the version that wrote it, then the engine's whole state, then
epochs. Each piece is compressed msgpack behind its length; a piece that was cut off by a crash ends the log.
"""

import zlib
from collections.abc import Iterable, Iterator, Sequence
from io import SEEK_END
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

import slaq
from slaq import policy, predict
from slaq.engine.events import Event
from slaq.engine.state import Effect, State
from slaq.engine.step import Predictors, run
from slaq.errors import SlaqError

FORMAT = 2
"""Format 1 had no header: it was written by SLAQ 0.1.0."""

LARGEST_PIECE = 1 << 30
"""Bytes, packed or not."""
LENGTH = 4
"""Bytes of the length before a piece."""

_MALFORMED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Epoch(msgspec.Struct, frozen=True, array_like=True):
    """What happened in an epoch, in order, and what was decided at its end."""

    events: Sequence[Event]
    effects: Sequence[Effect]


class Header(msgspec.Struct, frozen=True):
    """The first piece of a log."""

    log_format: int
    written_by: str


_encode = msgspec.msgpack.Encoder().encode
_epoch = msgspec.msgpack.Decoder(Epoch).decode
_state = msgspec.msgpack.Decoder(State).decode
_anything = msgspec.msgpack.Decoder().decode


def first_pieces(state: State) -> bytes:
    """What a log begins with: its header, and the state before the first epoch."""
    return _piece(Header(FORMAT, slaq.__version__)) + _piece(state)


def epoch_piece(epoch: Epoch) -> bytes:
    """One epoch as a log holds it."""
    return _piece(epoch)


def read(source: BinaryIO, name: str) -> tuple[State, Iterator[Epoch]]:
    """The first state of a log and its epochs, read as they are asked for.

    A SlaqError names what cannot be read, and the version that wrote it if that is the reason.
    """
    pieces = _pieces(source, name)
    try:
        _check_header(_anything(next(pieces, b"")), name)
        state = _with_memory(_state(next(pieces, b"")))
    except _MALFORMED as error:
        raise _unreadable(name, str(error)) from None
    return state, _epochs(pieces, name)


def places(source: BinaryIO) -> list[int]:
    """Where each whole piece of a log begins: its header, its state, its epochs. Reads none of them."""
    found, place = list[int](), source.tell()
    end = source.seek(0, SEEK_END)
    while place + LENGTH <= end:
        source.seek(place)
        after = place + LENGTH + int.from_bytes(source.read(LENGTH), "big")
        if after > end or after == place + LENGTH:
            break  # cut off
        found.append(place)
        place = after
    return found


def epoch_at(source: BinaryIO, place: int, name: str) -> Epoch:
    """The epoch that begins at one of the `places`."""
    source.seek(place)
    found = next(_epochs(_pieces(source, name), name), None)
    if found is None:
        raise _unreadable(name, f"no epoch begins at {place}")
    return found


def replayed(
    state: State, epochs: Iterable[Epoch], predictors: Predictors = predict.get
) -> Iterator[tuple[Epoch, State, list[Effect]]]:
    """Every epoch with the state after it and what the engine decides now, given the same events."""
    for epoch in epochs:
        state, effects = run(state, epoch.events, predictors)
        yield epoch, state, effects


def _piece(content: object) -> bytes:
    packed = zlib.compress(_encode(content), 1)
    return len(packed).to_bytes(LENGTH, "big") + packed


def _pieces(source: BinaryIO, name: str) -> Iterator[bytes]:
    while True:
        length = int.from_bytes(source.read(LENGTH), "big")
        if not 0 < length < LARGEST_PIECE:
            return
        packed = source.read(length)
        if len(packed) < length:
            return  # cut off: what came before is whole
        try:
            unpacking = zlib.decompressobj()
            piece = unpacking.decompress(packed, LARGEST_PIECE)
        except zlib.error as error:
            raise _unreadable(name, str(error)) from None
        if not unpacking.eof:
            raise _unreadable(name, f"a piece is damaged, or of more than {LARGEST_PIECE} bytes")
        yield piece


def _epochs(pieces: Iterator[bytes], name: str) -> Iterator[Epoch]:
    for piece in pieces:
        try:
            yield _epoch(piece)
        except _MALFORMED as error:
            raise _unreadable(name, str(error)) from None


def _check_header(found: Any, name: str) -> None:
    if isinstance(found, dict) and "log_format" not in found and "lease_s" in found:
        found = {"log_format": 1, "written_by": "0.1.0"}
    if not isinstance(found, dict) or "log_format" not in found:
        raise _unreadable(name, "it has no header")
    if found["log_format"] != FORMAT:
        raise SlaqError(
            f"{name} was written by SLAQ {found.get('written_by')} in format {found['log_format']}; SLAQ "
            f"{slaq.__version__} replays format {FORMAT}: replay it with the version that wrote it"
        )


def _with_memory(state: State) -> State:
    """The state with what its policy remembers as the record that the policy declares."""
    if state.memory is None:
        return state
    kind = type(policy.get(state.policy).memory)
    if state.fair_users and not isinstance(state.memory, dict):
        raise msgspec.ValidationError("what the policy remembers is not told by user")
    if state.fair_users:
        memory: Any = {
            user: None if each is None else msgspec.convert(each, kind) for user, each in state.memory.items()
        }
        return replace(state, memory=memory)
    return replace(state, memory=msgspec.convert(state.memory, kind))


def _unreadable(name: str, why: str) -> SlaqError:
    return SlaqError(f"{name} is not a decision log ({why}); give a file that a scheduler or `slaq trace` wrote")
