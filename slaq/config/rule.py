"""What is known of a key besides its name, type and default."""

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """The annotation of a configuration field."""

    doc: str
    low: float = -math.inf
    high: float = math.inf
    choices: tuple[str, ...] | str = ()
    """The texts that are allowed; "policies" stands for the names in the registry of policies."""
    path: bool = False
    """A file or folder: "~" is expanded, and a relative path in a conf file starts at that file's folder."""
    jvm: bool = False
    """Read by the plugin inside the driver's JVM, before any Python of ours: only Spark's configuration can set it."""
    since: str = "0.1.0"
    """The version that introduced the key."""

    def allowed(self) -> tuple[str, ...]:
        """The texts to choose from; empty: any."""
        if self.choices == "policies":
            # Imported when asked: drivers read their configuration without numpy.
            from slaq import policy

            return tuple(policy.names())
        return tuple(self.choices)
