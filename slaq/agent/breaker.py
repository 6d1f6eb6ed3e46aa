"""When to try again: at once after a success, later after each failure, with jitter so that drivers spread out."""

import random

FIRST_DELAY_S = 0.25
LONGEST_DELAY_S = 1.0
"""A scheduler that comes back is noticed within this time: about an epoch, before it decides for the first time."""
REFUSED_DELAY_S = 30.0
"""A scheduler that refuses (another version, a wrong token) is unlikely to accept soon."""


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
