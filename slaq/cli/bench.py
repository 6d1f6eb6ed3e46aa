"""`slaq bench …`: programs that measure SLAQ beside a baseline, in one run."""

from slaq.cli._groups import LazyGroup
from slaq.cli._summaries import BENCHMARKS

command = LazyGroup(
    "slaq.bench",
    BENCHMARKS,
    name="bench",
    help="Measure SLAQ beside a baseline.\n\nEvery benchmark prints a table or, with --format json, data.",
)
