"""Predictors for experiments: those that schedule real clusters, ones that know the truth, and wrong ones."""

from collections.abc import Callable, Sequence

import numpy as np

from slaq import predict
from slaq.engine import Predictor
from slaq.model import FloatArray, Job, Tuning
from slaq.predict import look_ahead
from slaq.predict.outlook import CurveOutlook, Forecast
from slaq.predict.series import Series
from slaq.sim.cluster import Cluster
from slaq.sim.oracle import LiteralOracle, Oracle


def oracle(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Knows the true curves and runtimes."""
    return Oracle(cluster)


def literal_oracle(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Knows them too, but looks no further than the coming epoch."""
    return LiteralOracle(cluster)


def zero(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Forecasts that no loss will fall any more."""
    return _forecasting(_flat)


def noise(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Random forecasts, drawn anew at every epoch."""
    rng = np.random.default_rng(seed)

    def random(series: Series, ahead: Sequence[int]) -> FloatArray:
        seen = np.nan_to_num(series.losses.max(axis=0) - series.losses.min(axis=0))
        drop, pace = seen * rng.random(series.jobs), 10.0 ** rng.uniform(-2, 0, series.jobs)
        drawn: FloatArray = _flat(series, ahead) - drop[:, None] * -np.expm1(-pace[:, None] * np.asarray(ahead))
        return drawn

    return _forecasting(random)


def _forecasting(forecast: Forecast) -> Predictor:
    """SLAQ's predictor with another forecast of the loss curves."""

    def predict(jobs: Sequence[Job], epoch_s: float, tuning: Tuning) -> CurveOutlook:
        return look_ahead(jobs, epoch_s, tuning, forecast)

    return predict


def _flat(series: Series, ahead: Sequence[int]) -> FloatArray:
    return np.repeat(series.losses[0][:, None], len(ahead), axis=1)


_SIMULATED: dict[str, Callable[[Cluster, int], Predictor]] = {
    "oracle": oracle,
    "literal-oracle": literal_oracle,
    "noise": noise,
    "zero": zero,
}
"""Those that only a simulation has."""


def make(name: str, cluster: Cluster, seed: int) -> Predictor:
    """The predictor of that name for one simulation."""
    return _SIMULATED[name](cluster, seed) if name in _SIMULATED else predict.get(name)


def predictor_names() -> list[str]:
    """The names `make` knows."""
    return [*predict.names(), *_SIMULATED]
