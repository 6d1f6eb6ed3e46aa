"""Predictors for experiments: the real one, watched; ones that know the truth; and ones that know nothing.

A baseline scheduler is a predictor too: `max-total` gives every core to whoever gains most from it, so least
attained service or shortest remaining time are nothing but other notions of gain, and need no second scheduler.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from slaq.engine.step import Predictor
from slaq.model import FloatArray, IntArray, Job, Outlook
from slaq.predict import look_ahead
from slaq.predict.outlook import CurveOutlook
from slaq.sim.cluster import Cluster
from slaq.sim.oracle import LiteralOracle, Oracle

MakePredictor = Callable[[Cluster, int], Predictor]
"""make(cluster, seed): the predictor of one simulation."""


@dataclass(frozen=True, slots=True)
class LinearOutlook:
    """Every core-second is worth the same to a job until it has had all it needs, then nothing."""

    worth: FloatArray
    need_core_s: FloatArray
    epoch_s: float

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction; here it is only an order of precedence."""
        return self.worth[job] * np.minimum(cores * self.epoch_s, self.need_core_s[job])

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:  # noqa: ARG002
        """See Outlook.loss; a precedence knows none."""
        return np.zeros(len(job))

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:  # noqa: ARG002
        """See Outlook.ahead; a precedence knows none."""
        return np.zeros(len(job))

    def until(self, share: float) -> FloatArray:  # noqa: ARG002
        """See Outlook.until; a precedence knows none."""
        return np.zeros(len(self.worth))


@dataclass(frozen=True, slots=True)
class AttainedOutlook:
    """A core-second is worth the less the more a job has had: the least served are raised to one level."""

    attained_core_s: FloatArray
    epoch_s: float

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction; here it is only an order of precedence."""
        return np.log1p(self.attained_core_s[job] + cores * self.epoch_s)

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:  # noqa: ARG002
        """See Outlook.loss; a precedence knows none."""
        return np.zeros(len(job))

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:  # noqa: ARG002
        """See Outlook.ahead; a precedence knows none."""
        return np.zeros(len(job))

    def until(self, share: float) -> FloatArray:  # noqa: ARG002
        """See Outlook.until; a precedence knows none."""
        return np.zeros(len(self.attained_core_s))


def slaq(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """The predictor that schedules real clusters."""
    return look_ahead


def oracle(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Knows the true curves and runtimes."""
    return Oracle(cluster)


def literal_oracle(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Knows them too, and looks no farther than the epoch."""
    return LiteralOracle(cluster)


def least_attained_service(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Precedence to the job that has had the fewest core-seconds."""
    index = cluster.index

    def predict(jobs: Sequence[Job], epoch_s: float) -> Outlook:
        return AttainedOutlook(cluster.attained_core_s[index(jobs)], epoch_s)

    return predict


def shortest_remaining_time(share: float) -> MakePredictor:
    """Precedence to the least true work left until `share` of the loss reduction; those past it come last."""

    def make(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
        truth = Oracle(cluster)

        def predict(jobs: Sequence[Job], epoch_s: float) -> Outlook:
            at = cluster.index(jobs)
            to_end, to_share = truth.work_left(at, 1.0), truth.work_left(at, share)
            past = to_share <= 0.0
            need = np.where(past, to_end, to_share)
            return LinearOutlook(np.where(past, 1e-9, 1.0) / np.maximum(need, 1e-9), need, epoch_s)

        return predict

    return make


def zero(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Forecasts that no loss will ever fall again."""

    def predict(jobs: Sequence[Job], epoch_s: float) -> CurveOutlook:
        return look_ahead(jobs, epoch_s, _flat)

    return predict


def noise(cluster: Cluster, seed: int) -> Predictor:  # noqa: ARG001
    """Forecasts drawn by lot, anew at every epoch."""
    rng = np.random.default_rng(seed)

    def lots(histories: Sequence[Sequence[float]], ahead: Sequence[int]) -> FloatArray:
        flat = _flat(histories, ahead)
        seen = np.array([max(losses) - min(losses) if len(losses) else 0.0 for losses in histories])
        drop, pace = seen * rng.random(len(seen)), 10.0 ** rng.uniform(-2, 0, len(seen))
        drawn: FloatArray = flat - drop[:, None] * -np.expm1(-pace[:, None] * np.asarray(ahead))
        return drawn

    def predict(jobs: Sequence[Job], epoch_s: float) -> CurveOutlook:
        return look_ahead(jobs, epoch_s, lots)

    return predict


def _flat(histories: Sequence[Sequence[float]], ahead: Sequence[int]) -> FloatArray:
    last = np.array([losses[-1] if len(losses) else np.nan for losses in histories])
    return np.repeat(last[:, None], len(ahead), axis=1)
