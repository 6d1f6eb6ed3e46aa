"""What a key has besides its name, type and default."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """The annotation of a configuration field."""

    doc: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] | str = ()
    """The allowed texts; "policies" and "predictors" stand for the names in those registries."""
    time: bool = False
    """A time in seconds; a text may carry a unit, as Spark's times do ("500ms")."""
    path: bool = False
    """A file or folder: "~" is expanded, and a relative path in a conf file starts at that file's folder."""
    driver: bool = False
    """Of the scheduler's keys: also for the scheduler inside a driver, and so with a name in Spark's configuration."""
    jvm: bool = False
    """Read by the plugin inside the driver's JVM, before Python starts: only Spark's configuration can set it."""
    since: str = "0.1.0"
    """The version that introduced the key."""

    def allowed(self) -> tuple[str, ...]:
        """The allowed texts; empty: any."""
        if isinstance(self.choices, tuple):
            return self.choices
        # Imported here: drivers read their configuration without numpy.
        from slaq import policy, predict

        return tuple({"policies": policy, "predictors": predict}[self.choices].names())
