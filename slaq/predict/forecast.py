"""Loss forecasts of all jobs in one numpy batch."""

from collections.abc import Callable, Sequence

import numpy as np

from slaq.errors import SlaqError
from slaq.predict.candidates import outline
from slaq.predict.curves import way_ahead
from slaq.predict.features import features
from slaq.predict.gate import shares
from slaq.predict.series import Losses, Matrix, Series, pack
from slaq.predict.window import look_back

BLOCK = 1024
"""Jobs handled at a time: the working set of a block stays in the processor's cache."""


def forecast(histories: Sequence[Losses], ahead: Sequence[int]) -> Matrix:
    """The predicted loss of every job after each number of further iterations; jobs × len(ahead).

    `histories` holds one loss sequence per job, oldest first, of any length and scale, lower being better; losses that
    are NaN, infinite or beyond ±1e300 are left out. `ahead` holds whole numbers ≥ 0; 0 asks for the loss now, without
    its noise.

    What holds for every job: without a usable loss its row is NaN, otherwise every forecast is finite. Its forecast
    depends on its own history alone, and of that on the last 32 usable losses and their number. It never rises with
    `ahead`, and falls ever more slowly, so that the predicted gain f(0) − f(n) is a concave curve. It follows the
    scale of the losses: forecasting a·h + b gives a·forecast(h) + b for every a > 0.
    """
    return forecast_series(pack(histories), ahead)


def mixture(series: Series, horizons: Matrix) -> Matrix:
    """The mixture of all candidates, in the units of the losses; horizons × jobs."""
    window = look_back(series)
    candidates = outline(window)
    mixed = candidates.mixed(shares(features(candidates)), way_ahead(horizons, window.points))
    return np.asarray(window.newest + window.spread * mixed)


def forecast_series(
    series: Series, ahead: Sequence[int], method: Callable[[Series, Matrix], Matrix] = mixture
) -> Matrix:
    """The same for histories that are packed already; `method(series, horizons)` forecasts a block of them."""
    horizons = _horizons(ahead)
    predicted = np.empty((series.jobs, len(horizons)))
    for start in range(0, series.jobs, BLOCK):
        jobs = np.arange(start, min(start + BLOCK, series.jobs))
        # numpy sums a lone column in another order than many: a lone job is computed beside itself, so that its
        # forecast is the same, to the last digit, in any company.
        columns = jobs if len(jobs) > 1 else jobs.repeat(2)
        block = Series(series.losses[:, columns], series.points[columns])
        predicted[jobs] = method(block, horizons).T[: len(jobs)]
    return predicted


def _horizons(ahead: Sequence[int]) -> Matrix:
    """The horizons as a column of floats."""
    for value in ahead:
        if not isinstance(value, int | float | np.integer | np.floating) or not value >= 0 or value % 1:
            raise SlaqError(f"Cannot forecast {value!r} iterations ahead; give whole numbers of at least 0.")
    return np.array([[min(value, 1e15)] for value in ahead], dtype=np.float64).reshape(-1, 1)
