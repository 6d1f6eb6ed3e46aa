"""`slaq cancel ID…`."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command("cancel", Change(cancel=True), "its driver is asked to end it")
