"""Hostile text and strangers at the driver's JVM: what is refused changes nothing, and the others go on."""

import os
import socket
import sys
import time
from random import Random
from typing import Any

import msgspec
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway
from py4j.protocol import Py4JAuthenticationError, Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from slaq.bench._grammar import NUMBERS, TEXTS
from slaq.bench._tasks import sleep_tasks
from slaq.driver.board import Board
from slaq.spark.bridge import Bridge
from slaq.spark.records import Begin, Loss

pytestmark = pytest.mark.spark

CELLS = ("good", "open", "", "1.0", "0", "-1", "1e999", "NaN", "0x1p3", "1f", "2147483648", "١", *map(str, NUMBERS))


def until(condition: Any, seconds: float = 60.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return found


def refusal(call: Any) -> str:
    """What the JVM raises; empty: nothing."""
    try:
        call()
    except (Py4JError, PySparkException) as error:
        return str(error)
    return ""


def test_hostile_lines_are_granted_whole_or_not_at_all(spark: SparkSession, bridge: Bridge) -> None:
    random = Random(1)
    texts = [text.encode("utf-8", "replace").decode()[:300] for text in TEXTS]
    applied = refused = 0
    bridge.open_pool("good")
    try:
        for _ in range(400):
            bridge.grant({"good": 2.0}, lease_s=60)
            cells = [random.choice((*CELLS, *texts)) for _ in range(random.choice((1, 2, 5, 5, 5, 6)))]
            lines = random.choice(("\n", "\n\n", "")).join(("good\t1.0\t0\t1.0\t0", "\t".join(cells)))
            lease_s = random.choice((10.0, 0.0, -5.0, 1e300, float("nan")))
            why = refusal(lambda lines=lines, lease_s=lease_s: bridge._java.grant(lines, lease_s, float("nan")))
            if not why:
                applied += 1
                continue
            assert "no grant is applied" in why
            assert bridge.poll().job("good").cores == 2.0
            refused += 1
        assert applied
        assert refused
        bridge.grant({"good": 2.0}, lease_s=60)
        with bridge.job("good"):
            sleep_tasks(spark, 2, 1)
        assert bridge.poll().counters.faults == {}
    finally:
        bridge.close_pool("good")


def test_a_huge_grant_is_read_to_its_end(bridge: Bridge) -> None:
    lines = "\n".join(f"nobody-{number}\t1.0\t0\t1.0\t0" for number in range(100_000))
    assert bridge._java.grant(lines, 10.0, float("nan")) == 0


@pytest.mark.parametrize("name", ["\ud800", "tab\tin it", "\x1b[2J\x00", "n" * 100_000])
def test_a_pool_of_any_name_can_be_polled(spark: SparkSession, bridge: Bridge, name: str) -> None:
    text = spark._jvm.java.lang.String
    java_name = text(bytearray(name.encode("utf-16-be", "surrogatepass")), "UTF-16BE") if name == "\ud800" else name
    context = spark.sparkContext
    try:
        context._jsc.setLocalProperty("spark.scheduler.pool", java_name)
        sleep_tasks(spark, 1, 1)
    finally:
        context._jsc.setLocalProperty("spark.scheduler.pool", None)
    assert bridge.poll().jobs


@pytest.fixture(scope="module")
def sidecar(spark: SparkSession) -> Any:
    """A real sidecar beside the session, started as the plugin does it."""
    bridge = Bridge.install(spark, strict=True)
    jvm: Any = spark._jvm
    context = spark.sparkContext._jsc.sc()
    context.conf().set("spark.slaq.python", sys.executable)
    started = jvm.io.slaq.sidecar.Sidecar
    started.start(context)
    yield started
    started.stop()
    bridge.poll()


def gateway_port(spark: SparkSession) -> int:
    """The port of the sidecar's gateway, read out of the running object."""
    jvm: Any = spark._jvm
    kind = jvm.java.lang.Class.forName("io.slaq.sidecar.Sidecar")
    fields = {field.getName(): field for field in kind.getDeclaredFields()}
    for field in fields.values():
        field.setAccessible(True)
    return int(fields["gateway"].get(fields["current"].get(None)).getListeningPort())


def board_of(desk: Any) -> Board | None:
    text = desk.post(0, "")
    return msgspec.json.decode(text, type=Board) if text else None


def test_a_broken_letter_does_not_spoil_those_after_it(sidecar: Any) -> None:
    desk = sidecar.desk()
    for number, letter in enumerate(("no json", "[{]", "[" * 5000, "\x00", '[{"event":"loss"}]', '"\\ud800"'), 1):
        desk.post(number, letter)
    desk.post(101, msgspec.json.encode([Begin(100, "good", name="good"), Loss(101, "good", 1, 0.5)]).decode())
    board = until(lambda: (found := board_of(desk)) and found.jobs and found)
    assert {job.id: job.loss for job in board.jobs}["good"] == 0.5


def test_the_gateway_lets_nobody_in_without_its_token(spark: SparkSession, sidecar: Any) -> None:
    port = gateway_port(spark)
    for token in (None, "", "0" * 64, "x\ny"):
        stranger = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
        with pytest.raises((Py4JAuthenticationError, Py4JNetworkError, Py4JError)):
            stranger.entry_point.settings()
        stranger.close()
    assert sidecar.desk() is not None


@pytest.mark.usefixtures("sidecar")
def test_the_gateway_listens_on_the_loopback_only(spark: SparkSession) -> None:
    suffix = f":{gateway_port(spark):04X}"
    with open("/proc/net/tcp") as four, open("/proc/net/tcp6") as six:
        lines = [line.split() for line in (*four, *six) if line.split()[1].endswith(suffix)]
    listening = {line[1].partition(":")[0] for line in lines if line[3] == "0A"}
    assert listening
    assert listening <= {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


def test_strangers_in_numbers_and_a_huge_message_leave_the_sidecar_alone(spark: SparkSession, sidecar: Any) -> None:
    port, crowd = gateway_port(spark), []
    try:
        for _ in range(200):
            crowd.append(socket.create_connection(("127.0.0.1", port), timeout=10))
            crowd[-1].sendall(b"c\no1\nsettings\ne\n")
        with socket.create_connection(("127.0.0.1", port), timeout=10) as huge:
            try:
                for _ in range(50):
                    huge.sendall(b"x" * 100_000)
                huge.sendall(b"\n" + os.urandom(1000))
            except OSError:
                pass  # it hung up, which is as good
        desk = sidecar.desk()
        desk.post(1001, msgspec.json.encode([Begin(1000, "later"), Loss(1001, "later", 1, 0.25)]).decode())
        assert until(lambda: (found := board_of(desk)) and "later" in {job.id for job in found.jobs})
    finally:
        for connection in crowd:
            connection.close()
