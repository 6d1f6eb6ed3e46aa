"""When to try again: at once after a success, later after each failure, with jitter so that drivers spread out."""

import random

FIRST_DELAY_S = 0.25
LONGEST_DELAY_S = 1.0
"""A scheduler that comes back is noticed within this time: about an epoch, before it decides for the first time."""
REFUSED_DELAY_S = 30.0
"""A scheduler that refuses (another version, a wrong token) is unlikely to accept soon."""


class Breaker:
    """Counts failures in a row; the delay doubles with each of one kind and carries jitter.

    One refusal after a minute without an answer does not make a scheduler one that has refused for a minute.
    """

    def __init__(self, chance: random.Random | None = None) -> None:
        self._chance = chance or random.Random()
        self.failures = 0
        self._refused = False
        self._alike = 0
        """Failures in a row that were all refusals, or all none."""

    def succeeded(self) -> None:
        """Back to normal."""
        self.failures = self._alike = 0

    def failed(self, refused: bool = False) -> float:
        """Seconds to wait after one more failure."""
        if refused != self._refused:
            self._refused, self._alike = refused, 0
        delay = min(FIRST_DELAY_S * 2.0 ** min(self._alike, 16), REFUSED_DELAY_S if refused else LONGEST_DELAY_S)
        self.failures += 1
        self._alike += 1
        return delay * self._chance.uniform(0.5, 1.0)
