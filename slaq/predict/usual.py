"""How many iterations an algorithm usually takes to 90 % of its loss reduction: all there is to go by at first.

Medians over the recorded runs in `slaq/data/mllib-traces.json`; a test holds the table to them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from slaq.model import BoolArray, FloatArray, Job, Tuning
from slaq.model.snapshot import column

TO_90 = {
    "ALS": 5.5,
    "FMClassifier": 25.0,
    "FMRegressor": 25.0,
    "GBTClassifier": 39.0,
    "GBTRegressor": 47.5,
    "GaussianMixture": 17.0,
    "GeneralizedLinearRegression": 1.0,
    "KMeans": 3.0,
    "LDA": 22.0,
    "LinearRegression": 3.0,
    "LinearSVC": 4.0,
    "LogisticRegression": 4.0,
    "LogisticRegressionWithSGD": 41.0,
    "MultilayerPerceptronClassifier": 14.0,
    "SVMWithSGD": 59.0,
}


@dataclass(frozen=True, slots=True)
class Usual:
    """What is usual for the algorithms of jobs, one entry per job, in forecast steps."""

    to_90: FloatArray
    known: BoolArray
    length: FloatArray
    """Steps that the job was told to make; infinity if it was told none."""
    made: FloatArray
    longer: float
    """See Tuning.longer."""

    @property
    def decay(self) -> FloatArray:
        """What a step leaves of the reduction that is ahead, if it goes geometrically."""
        decay: FloatArray = 0.1 ** (1.0 / self.to_90)
        return decay

    def left(self, share: float) -> FloatArray:
        """The most steps that a job is believed to be away from a share of its loss reduction; infinity if its
        algorithm is unknown.

        A few losses do not show yet that a curve is about to level off. The reduction is that of the job's own length,
        which may be shorter than its algorithm needs.
        """
        decay = self.decay
        usual = np.log1p(-share * (1.0 - decay**self.length)) / np.log(decay)
        return np.where(self.known, np.maximum(usual - self.made, self.longer * self.made), np.inf)


def what_is_usual(jobs: Sequence[Job], step: FloatArray, tuning: Tuning) -> Usual:
    """For jobs whose forecast steps are of so many iterations."""
    to_90 = np.array([TO_90.get(job.estimator, np.nan) for job in jobs])
    known = ~np.isnan(to_90)
    to_90[~known] = tuning.unknown_to_90
    length = np.array([np.inf if job.max_iterations is None else float(job.max_iterations) for job in jobs])
    made = np.maximum(column([job.history for job in jobs], "latest_iteration"), 0.0)
    return Usual(to_90 / step, known, length / step, made / step, tuning.longer)
