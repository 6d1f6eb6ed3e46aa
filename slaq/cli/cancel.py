"""`slaq cancel ID…`: ask the drivers of jobs to end them."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command("cancel", Change(cancel=True), "its driver is asked to end it", __doc__ or "")
