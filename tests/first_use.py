"""A program: threads that use a record for the first time, all at once. `first_use.py MODULE NAME`."""

import importlib
import sys
import threading
from contextlib import suppress

import msgspec

kind = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
sys.setswitchinterval(1e-6)
start = threading.Barrier(8)
fields = dict.fromkeys(reversed(kind.__struct_fields__))  # the last is the last to be known
text = msgspec.json.encode(fields)


def use() -> None:
    start.wait()
    for call in (lambda: msgspec.json.decode(text, type=kind), lambda: msgspec.convert(fields, kind)):
        with suppress(msgspec.ValidationError):
            call()


threads = [threading.Thread(target=use) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
