"""Token files: readable by their owner only, and holding something worth keeping."""

import os
from pathlib import Path

import pytest

from slaq.config import read_token
from slaq.errors import SlaqError


def test_a_token_of_a_private_file(tmp_path):
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")
    file.chmod(0o600)
    assert read_token(file) == "0123456789abcdef"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644])
def test_a_file_that_others_may_read_is_refused(tmp_path, mode):
    file = tmp_path / "token"
    file.write_text("0123456789abcdef\n")
    file.chmod(mode)
    with pytest.raises(SlaqError, match=f"mode {mode:04o}; run: chmod 600"):
        read_token(file)


@pytest.mark.parametrize("text", ["", "short", "two words 0123456789", "0123456789abcdef\nanother", "é" * 20])
def test_what_is_no_token(tmp_path, text):
    file = tmp_path / "token"
    file.write_text(text, "utf-8")
    file.chmod(0o600)
    with pytest.raises(SlaqError, match="no token of 16 or more"):
        read_token(file)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SlaqError, match="make one with"):
        read_token(tmp_path / "none")


@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_what_is_no_file_is_refused_at_once(tmp_path, kind):
    path = Path("/dev/zero") if kind == "device" else tmp_path / kind
    if kind == "pipe":
        os.mkfifo(path, 0o600)
    elif kind == "folder":
        path.mkdir(0o700)
    with pytest.raises(SlaqError, match="is not a file; make one with"):
        read_token(path)


def test_a_file_that_is_larger_than_any_token_is_not_read_to_its_end(tmp_path):
    file = tmp_path / "token"
    file.touch(0o600)
    os.truncate(file, 1 << 40)  # a sparse file of a terabyte
    with pytest.raises(SlaqError, match="no token"):
        read_token(file)
