"""What an administrator should look at: shown while it lasts, logged once."""

import logging

log = logging.getLogger(__name__)

MOST_LOGGED = 1000
"""Distinct sentences remembered; after more, one may be logged again."""


class Problems:
    """The problems of now, by kind."""

    def __init__(self) -> None:
        self._now: dict[str, str] = {}
        self._logged: set[str] = set()

    def tell(self, kind: str, sentence: str) -> None:
        """There is this problem; a sentence that was not told before goes to the log."""
        self._now[kind] = sentence
        if sentence not in self._logged:
            if len(self._logged) >= MOST_LOGGED:
                self._logged.clear()
            self._logged.add(sentence)
            log.warning("%s", sentence)

    def clear(self, kind: str) -> None:
        """This kind of problem is over."""
        self._now.pop(kind, None)

    def sentences(self) -> list[str]:
        """All of them."""
        return list(self._now.values())
