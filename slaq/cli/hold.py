"""`slaq hold ID…`: set jobs aside; they get no cores until released."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command("hold", Change(held=True), "held: no cores from the next epoch on", __doc__ or "")
