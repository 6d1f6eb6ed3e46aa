"""How long until 95 % of a job's predicted loss reduction: the number at the end of the progress line."""

from collections.abc import Sequence
from statistics import median

from slaq.driver.early import LIMIT_AHEAD
from slaq.predict import forecast

SHARE = 0.95
AHEAD = [0, *(2**i for i in range(13))]
assert AHEAD[-1] == LIMIT_AHEAD


def seconds_to_95(losses: Sequence[float], recent_s: Sequence[float]) -> float | None:
    """Seconds until the share is reached at the pace of the latest iterations; 0 if it is, None if nobody can tell."""
    if len(losses) < 3 or not recent_s:
        return None
    ahead = forecast([losses], AHEAD)[0]
    goal = losses[0] - SHARE * (losses[0] - ahead[-1])
    if losses[-1] <= goal:
        return 0.0
    for before, after in zip(range(len(AHEAD) - 1), range(1, len(AHEAD)), strict=True):
        if ahead[after] <= goal:
            fall = ahead[before] - ahead[after]
            part = (ahead[before] - goal) / fall if fall > 0.0 else 1.0
            return float(AHEAD[before] + part * (AHEAD[after] - AHEAD[before])) * median(recent_s)
    return None
