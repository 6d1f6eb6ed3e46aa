"""Simulated agents speak the protocol of real ones."""

import asyncio

import msgspec

from slaq.bench._load_agents import Findings, SimulatedAgent
from slaq.protocol import Beat, Report
from slaq.protocol.beat import MAX_REPORTS


class Wire:
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        self.beats: list[Beat] = []

    def is_closing(self) -> bool:
        return False

    def write(self, request: bytes) -> None:
        self.beats.append(msgspec.json.decode(request.partition(b"\r\n\r\n")[2], type=Beat))


def test_the_first_beat_brings_a_full_history_and_every_other_one_report() -> None:
    async def beats() -> list[Beat]:
        wire, agent = Wire(), SimulatedAgent(7, Findings(0.0), stop_at=0.0)
        agent.connection_made(wire)
        agent._reports = 1
        agent._beat()
        return wire.beats

    first, second = asyncio.run(beats())
    assert [len(beat.jobs[0].reports) for beat in (first, second)] == [MAX_REPORTS, 1]
    assert first.jobs[0].declared is not None
    assert (second.jobs[0].first, second.seq) == (MAX_REPORTS, 2)
    (report,) = second.jobs[0].reports
    assert report == Report(report.loss, MAX_REPORTS, 2.0, 0.1)
