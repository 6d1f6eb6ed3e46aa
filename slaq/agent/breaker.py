"""When to try again: at once after a success, ever later after failures, never all drivers at the same moment."""

import random

FIRST_DELAY_S = 0.25
LONGEST_DELAY_S = 1.0
"""A scheduler that comes back is noticed within this time: about an epoch, before it decides for the first time."""
REFUSED_DELAY_S = 30.0
"""A scheduler that says no (another version, a wrong token) will hardly change its mind soon."""


class Breaker:
    """Counts failures in a row; the delay doubles with each and carries jitter."""

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()
        self.failures = 0

    def succeeded(self) -> None:
        """Back to normal."""
        self.failures = 0

    def failed(self, refused: bool = False) -> float:
        """Seconds to wait after one more failure."""
        delay = min(FIRST_DELAY_S * 2.0 ** min(self.failures, 16), REFUSED_DELAY_S if refused else LONGEST_DELAY_S)
        self.failures += 1
        return delay * self._chance.uniform(0.5, 1.0)
