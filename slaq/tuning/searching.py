"""The search itself: every candidate on every fold in full, or a race."""

from typing import Any, NamedTuple

from pyspark.ml import Estimator
from pyspark.ml.evaluation import Evaluator
from pyspark.sql import DataFrame

from slaq.errors import SlaqError
from slaq.tuning.budget import Candidate
from slaq.tuning.folds import Fold, run
from slaq.tuning.race import Race, Round, rungs
from slaq.tuning.runner import Runner


class Found(NamedTuple):
    """What a search found; by fold, then by candidate."""

    metrics: list[list[float]]
    models: list[list[Any]]
    rounds: list[Round]
    winner: int | None
    """The candidate that won a race; None: the best metric wins."""


class Search(NamedTuple):
    """What is to be searched, and how."""

    estimator: "Estimator[Any]"
    grid: list[dict[Any, Any]]
    evaluator: Evaluator
    data: list[tuple[DataFrame, DataFrame]]
    parallelism: int
    keep_models: bool

    def run(self, race: Race | None) -> Found:
        """Search; a race of one candidate, or with no rung below its maxIter, is an ordinary search."""
        if not self.grid:
            raise SlaqError("estimatorParamMaps is empty; give at least one set of parameters, as [{}]")
        if race is None:
            return self._in_full()
        candidates = [Candidate(self.estimator, params, place) for place, params in enumerate(self.grid)]
        steps = rungs(race, max(candidate.most for candidate in candidates))
        if not steps or len(candidates) == 1:
            return self._in_full()
        runner = Runner(self, candidates, len(steps))
        rounds = runner.run(steps)
        return Found(runner.metrics, runner.models, rounds, rounds[-1].kept[0])

    def _in_full(self) -> Found:
        """As pyspark does it, but the candidates of all folds go through one pool of threads."""
        folds = [Fold(train, validation, len(self.grid)) for train, validation in self.data]
        metrics = [[0.0] * len(self.grid) for _ in folds]
        models: list[list[Any]] = [[None] * len(self.grid) for _ in folds]

        def task(number: int, fold: Fold, fitted: Any) -> None:
            with fold.use():
                place, model = next(fitted)
                metrics[number][place] = self.judge(model, fold, place)
                if self.keep_models:
                    models[number][place] = model

        tasks = []
        for number, fold in enumerate(folds):
            # Thread-safe by pyspark's contract, and what estimators override that fit many candidates at once.
            fitted = self.estimator.fitMultiple(fold.train, self.grid)
            tasks += [lambda n=number, f=fold, m=fitted: task(n, f, m) for _ in self.grid]
        try:
            self.go(tasks)
        finally:
            for fold in folds:
                fold.free()
        return Found(metrics, models, [], None)

    def judge(self, model: Any, fold: Fold, place: int) -> float:
        """The metric of a model on the validation data."""
        return self.evaluator.evaluate(model.transform(fold.validation, self.grid[place]))

    def go(self, tasks: list[Any]) -> None:
        """Run tasks in the search's threads."""
        run(self.data[0][0].sparkSession, tasks, self.parallelism)
