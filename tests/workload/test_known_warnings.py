"""Two harmless lines of Spark's JVM stay out of stderr; everything else passes, also what comes at the very end."""

import subprocess
import sys

PROGRAM = """
import subprocess, sys
from slaq.workload.known_warnings import without_known_warnings

lines = '''WARNING: Using incubator modules: jdk.incubator.vector
netlib-blas: JNI_OnLoad: dlopen(libblas.so.3) failed: libblas.so.3: cannot open shared object file
WARNING: Using incubator modules: another
Exception in thread "main"'''
with without_known_warnings():
    program = 'read go; echo "$0" >&2; echo the last words >&2'
    child = subprocess.Popen(["/bin/sh", "-c", program, lines], stdin=subprocess.PIPE)
print(lines.splitlines()[0], file=sys.stderr, flush=True)  # ours, after the block: as it is
child.stdin.close()  # as a JVM does, it goes on when we are over
"""


def test_what_a_child_says_is_sifted_and_what_we_say_is_not() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=60, check=True)
    assert done.stderr.splitlines() == [
        "WARNING: Using incubator modules: jdk.incubator.vector",
        "WARNING: Using incubator modules: another",
        'Exception in thread "main"',
        "the last words",
    ]


def test_without_grep_everything_passes() -> None:
    program = f"import os; os.environ['PATH'] = '/nowhere'\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert len(done.stderr.splitlines()) == 6
