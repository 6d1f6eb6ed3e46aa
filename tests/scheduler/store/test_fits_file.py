"""The file of past fits: private, bounded, shared by several drivers, and replaced when it is damaged."""

import stat
import subprocess
import sys

import pytest

from slaq.model import PastFit
from slaq.records import Traits
from slaq.scheduler.store.fits_file import HEADER, DamagedError, FitsFile

WRITER = """
import sys
from pathlib import Path
from slaq.model import PastFit
from slaq.scheduler.store.fits_file import FitsFile
file = FitsFile(Path(sys.argv[1]), most=100)
for number in range(60):
    file.append([PastFit(sys.argv[2], iterations=float(number))])
"""


@pytest.fixture
def file(tmp_path):
    return FitsFile(tmp_path / "cache" / "slaq" / "fits.jsonl", most=10)


def fits(*numbers: int) -> list[PastFit]:
    return [PastFit("KMeans", Traits({"k": 3.0, "initMode": "random"}), iterations=float(number)) for number in numbers]


def test_what_is_appended_is_read_again(file):
    file.append(fits(1))
    file.append(fits(2, 3))
    assert file.read() == fits(1, 2, 3)


def test_without_a_file_there_is_nothing(file):
    assert file.read() == []


def test_only_its_owner_may_read_it(file):
    file.append(fits(1))
    assert stat.S_IMODE(file.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.file.parent.stat().st_mode) == 0o700


def test_it_stays_bounded_and_keeps_the_latest(file):
    for number in range(95):
        file.append(fits(number))
        assert len(file.file.read_bytes().splitlines()) <= 21
    assert file.read() == fits(*range(85, 95))


def test_a_line_that_was_cut_off_by_a_crash_is_left_out(file):
    file.append(fits(1, 2))
    file.file.write_bytes(file.file.read_bytes()[:-7])
    assert file.read() == fits(1)


def test_what_follows_a_line_that_was_cut_off_is_not_lost(file):
    file.append(fits(1, 2))
    file.file.write_bytes(file.file.read_bytes()[:-7])
    file.append(fits(3))
    assert file.read() == fits(1, 3)


@pytest.mark.parametrize(
    "content",
    [
        b"\x00\xff garbage",
        b"[]\n",
        HEADER + b"\nnot json\n",
        HEADER + b'\n{"work":1}\n',
        HEADER + b'\n{"estimator":"\xff"}\n',
    ],
)
def test_a_damaged_file_is_set_aside_and_a_fresh_one_begun(file, content):
    file.file.parent.mkdir(parents=True)
    file.file.write_bytes(content)
    with pytest.raises(DamagedError, match=r"fits\.jsonl could not be used .* moved to .*damaged"):
        file.append(fits(1))
    file.append(fits(1))
    assert file.read() == fits(1)
    assert [kept.read_bytes() for kept in file.file.parent.glob("*.damaged-*")] == [content]


def test_drivers_that_write_at_the_same_time_lose_nothing(tmp_path):
    path = tmp_path / "fits.jsonl"
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(path), name]) for name in ("one", "two", "three")]
    assert [writer.wait(timeout=60) for writer in writers] == [0, 0, 0]
    lines = FitsFile(path, most=1000).read()
    # Whoever found more than 200 lines kept the latest 100; nothing was torn, and every writer's order was kept.
    assert 100 <= len(lines) <= 200
    for name in ("one", "two", "three"):
        mine = [fit.iterations for fit in lines if fit.estimator == name]
        assert mine == sorted(mine)
        assert not mine or mine == [float(number) for number in range(60)][-len(mine) :]
