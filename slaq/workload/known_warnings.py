"""Keeps two harmless lines of Spark's JVM out of what measurements and the demo print; everything else passes.

The JVM names the incubator module that Spark asks for, and the native BLAS loader says that the host has no libblas. No
option of the JVM silences the first without taking the module, and with it speed, away.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

HARMLESS = ("^WARNING: Using incubator modules: jdk\\.incubator\\.vector$", "^netlib-blas: JNI_OnLoad: dlopen(libblas")

_sieves: list[subprocess.Popen[bytes]] = []
"""Kept, because they end with the JVMs and not before."""


@contextmanager
def without_known_warnings() -> Iterator[None]:
    """Programs that begin inside this block, and what they start, have those lines taken out of their stderr.

    A process of its own does it: it outlives this one, so a last error of the JVM passes too.
    """
    command = ["grep", "--line-buffered", "-v", *(word for line in HARMLESS for word in ("-e", line))]
    try:
        sieve = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=2, start_new_session=True)
    except OSError:  # no grep: better two lines too many
        yield
        return
    _sieves.append(sieve)
    assert sieve.stdin is not None
    ours = os.dup(2)
    with sieve.stdin:
        os.dup2(sieve.stdin.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(ours, 2)
        os.close(ours)
