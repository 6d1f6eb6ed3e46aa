"""The colour of each state, by names that click and rich share."""

COLOURS = {
    "running": "green",
    "queued": "yellow",
    "preempted": "yellow",
    "idle": "cyan",
    "held": "magenta",
    "over-quota": "magenta",
    "finished": "blue",
    "stopped": "blue",
    "failed": "red",
    "cancelled": "red",
    "lost": "red",
}
