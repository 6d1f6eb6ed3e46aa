"""`slaq hold ID…`."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command(
    "hold",
    Change(held=True),
    "held: no cores from the next epoch on",
    "Its tasks under way end as usual; then it waits and keeps what it has until `slaq release`.",
)
