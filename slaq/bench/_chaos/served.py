"""`slaq scheduler` whose wall clock can be moved: the seconds in a file are added to the time.

Run as a program: `python -m slaq.bench._chaos.served CONF CLOCK`.
"""

import logging
import mmap
import struct
import sys
import time
from pathlib import Path

from slaq.config import load
from slaq.errors import SlaqError
from slaq.scheduler.server import Server

_SECONDS = struct.Struct("=d")


def set_clock(file: Path, seconds: float) -> None:
    """Move the clock of whoever reads this file."""
    with file.open("r+b" if file.exists() else "w+b") as content:
        content.write(_SECONDS.pack(seconds))


def main() -> None:
    """See the module."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    conf, clock = sys.argv[1:]
    with open(clock, "rb") as file:
        offset = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        server = Server(load(conf), lambda: load(conf), lambda: time.time() + _SECONDS.unpack_from(offset)[0])
    except SlaqError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    server.run()


if __name__ == "__main__":
    main()
