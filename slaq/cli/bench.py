"""`slaq bench …`: programs that measure SLAQ beside a baseline, in one run."""

from slaq.cli import PackageGroup

command = PackageGroup(
    "slaq.bench",
    name="bench",
    help="Measure SLAQ beside a baseline, in one run; every program prints a table or, with --format json, data.",
)
