"""Drop-in `CrossValidator` and `TrainValidationSplit`: pyspark's Params, pyspark's result types."""

from typing import Any

import numpy as np
import pyspark.ml.tuning as stock
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from slaq.tuning.race import Race, checked
from slaq.tuning.searching import Found, Search


class _Racing:
    """What both have in common: the setting `racing`, and the search."""

    _race: Race | None = None

    def getRacing(self) -> Race | None:  # noqa: N802 - as the getters of pyspark
        """The rules of the race; None: every candidate is fitted in full."""
        return self._race

    def setRacing(self, value: "bool | Race") -> Any:  # noqa: N802 - as the setters of pyspark
        """Race (True, or rules of one's own), or fit every candidate in full (False)."""
        self._race = checked(value)
        return self

    @classmethod
    def load(cls, path: str) -> Any:
        """Read what `save` of this class or of pyspark's wrote; `racing` is not saved and is off."""
        own, read = cls(), super().load(path)  # type: ignore[misc]
        own._resetUid(read.uid)  # type: ignore[attr-defined]
        return read._copyValues(own)

    def _search(self, data: list[tuple[DataFrame, DataFrame]]) -> tuple[Any, Found]:
        own: Any = self
        search = Search(
            own.getEstimator(),
            own.getEstimatorParamMaps(),
            own.getEvaluator(),
            data,
            own.getParallelism(),
            own.getCollectSubModels(),
        )
        return search, search.run(self._race)


class CrossValidator(_Racing, stock.CrossValidator):
    """pyspark's CrossValidator without a barrier between folds; `racing=True` stops hopeless candidates early.

    In a race `avgMetrics` of a candidate is that of the last rung it reached, `model.race` tells the rounds, and the
    winner is fitted in full. `racing` is not saved with the validator.
    """

    def __init__(self, *, racing: bool | Race = False, **params: Any) -> None:
        super().__init__(**params)
        self.setRacing(racing)

    def setParams(self, *, racing: bool | Race | None = None, **params: Any) -> "CrossValidator":  # noqa: N802
        """See pyspark's; `racing` stays as it is unless given."""
        if racing is not None:
            self.setRacing(racing)
        super().setParams(**params)
        return self

    def _fit(self, dataset: DataFrame) -> stock.CrossValidatorModel:
        search, found = self._search(self._kFold(dataset))
        average, deviation = self._gen_avg_and_std_metrics(found.metrics)
        winner = _winner(found, average, search)
        model = search.estimator.fit(dataset, search.grid[winner])
        models = found.models if search.keep_models else None
        made = self._copyValues(stock.CrossValidatorModel(model, average, models, deviation))
        _tell(made, found)
        return made


class TrainValidationSplit(_Racing, stock.TrainValidationSplit):
    """pyspark's TrainValidationSplit; `racing=True` stops hopeless candidates early, see CrossValidator."""

    def __init__(self, *, racing: bool | Race = False, **params: Any) -> None:
        super().__init__(**params)
        self.setRacing(racing)

    def setParams(self, *, racing: bool | Race | None = None, **params: Any) -> "TrainValidationSplit":  # noqa: N802
        """See pyspark's; `racing` stays as it is unless given."""
        if racing is not None:
            self.setRacing(racing)
        super().setParams(**params)
        return self

    def _fit(self, dataset: DataFrame) -> stock.TrainValidationSplitModel:
        # The split is pyspark's, word for word: the same rows for the same seed.
        drawn = dataset.select("*", sf.rand(self.getOrDefault(self.seed)).alias(self.uid + "_rand"))
        held_out = drawn[self.uid + "_rand"] >= self.getTrainRatio()
        search, found = self._search([(drawn.filter(~held_out), drawn.filter(held_out))])
        (metrics,), (models,) = found.metrics, found.models
        winner = _winner(found, metrics, search)
        model = search.estimator.fit(dataset, search.grid[winner])
        kept = models if search.keep_models else None
        made = self._copyValues(stock.TrainValidationSplitModel(model, metrics, kept))
        _tell(made, found)
        return made


def _winner(found: Found, metrics: list[float], search: Search) -> int:
    if found.winner is not None:
        return found.winner
    return int(np.argmax(metrics) if search.evaluator.isLargerBetter() else np.argmin(metrics))


def _tell(model: Any, found: Found) -> None:
    model.race = found.rounds
