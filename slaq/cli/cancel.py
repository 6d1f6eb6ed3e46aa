"""`slaq cancel ID…`."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command(
    "cancel",
    Change(cancel=True),
    "its driver is asked to end it",
    "The driver cancels the job's Spark jobs, and the fit fails there. To keep the model use `slaq stop`.",
)
