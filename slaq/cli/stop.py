"""`slaq stop ID…`."""

from slaq.cli._change import change_command
from slaq.protocol import Change

command = change_command(
    "stop",
    Change(stop=True),
    "ends after the iteration under way, with the model it has",
    "The fit returns in its driver as if it had converged. A fit that cannot end early says why.",
)
