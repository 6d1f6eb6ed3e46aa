"""How many iterations a candidate may take: where its `maxIter` is, how to change it, whether a fit needed all."""

from typing import Any

from pyspark.ml import Estimator, Pipeline

from slaq.errors import SlaqError


class Candidate:
    """An estimator with one set of parameters, and the part of it that iterates."""

    def __init__(self, estimator: "Estimator[Any]", params: dict[Any, Any], place: int) -> None:
        self.place, self.params = place, params
        self._estimator = estimator.copy(params)
        self._part = _iterating(self._estimator)
        if self._part is None:
            raise SlaqError(
                f"racing compares candidates after some iterations, and {type(estimator).__name__} (candidate {place}) "
                "has no maxIter; use racing=False for it"
            )
        self.most: int = self._part.getOrDefault("maxIter")

    def after(self, iterations: int) -> "Estimator[Any]":
        """The estimator with this many iterations at the most."""
        assert self._part is not None
        return self._estimator.copy({self._part.getParam("maxIter"): min(iterations, self.most)})


def _iterating(estimator: Any) -> Any:
    """The last part of a pipeline or of a one-versus-rest that has a maxIter: what comes before prepares its data."""
    if isinstance(estimator, Pipeline):
        parts = (_iterating(stage) for stage in reversed(estimator.getStages()))
        return next((part for part in parts if part is not None), None)
    if getattr(estimator, "hasParam", None) is None:
        return None
    if estimator.hasParam("maxIter"):
        return estimator
    return _iterating(estimator.getClassifier()) if estimator.hasParam("classifier") else None


def converged(model: Any, iterations: int) -> bool:
    """Whether a fit ended by itself before its iterations were used up: with more of them it would be the same."""
    try:
        summary = model.summary if model.hasSummary else None
        for name in ("totalIterations", "numIter", "numIterations"):
            if hasattr(summary, name):
                return int(getattr(summary, name)) < iterations
    except Exception:  # a model without a summary, or whose summary cannot say
        return False
    return False
