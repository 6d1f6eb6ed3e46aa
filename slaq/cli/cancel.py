"""`slaq cancel ID…`."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command(
    "cancel",
    Change(cancel=True),
    "its driver is asked to end it",
    "A training loop learns of it from `slaq.should_stop()`. A fit of MLlib does not ask; `slaq stop` ends it.",
)
