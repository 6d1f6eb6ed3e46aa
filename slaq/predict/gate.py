"""Which candidate to believe, and how much: shares that sum to 1, from the features of a history.

The gate is a softmax over linear functions of the features: a mixture of experts whose experts are fixed formulas. Its
numbers in `learned.py` are found by `slaq bench learn` from past training runs.
"""

from collections.abc import Mapping

import numpy as np

from slaq.predict.learned import GATE
from slaq.predict.series import Matrix

_ROWS = np.array(list(GATE.values()))


def shares(features: Mapping[str, Matrix]) -> Matrix:
    """How much each candidate counts for each job; candidates × jobs, every column sums to 1."""
    described = np.stack([features[name] for name in GATE])
    # einsum instead of a matrix product: the shares of a job must not depend on which other jobs there are.
    scores = np.einsum("fc,fj->cj", _ROWS, described)
    scores -= scores.max(axis=0)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=0)
    return np.asarray(scores)
