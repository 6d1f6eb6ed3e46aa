"""`slaq release ID…`."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command(
    "release",
    Change(held=False),
    "released: takes part from the next epoch on",
    "It takes part from the next decision on.",
)
