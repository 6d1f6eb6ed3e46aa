"""The search itself: every candidate on every fold in full, or a race."""

import threading
from typing import Any, NamedTuple

import numpy as np
from pyspark.ml import Estimator
from pyspark.ml.evaluation import Evaluator
from pyspark.sql import DataFrame

from slaq.driver.notices import log
from slaq.errors import SlaqError
from slaq.tuning.budget import Candidate, converged
from slaq.tuning.folds import Fold, run
from slaq.tuning.race import Race, Round, best, rungs, survivors


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
        return self._raced(candidates, steps) if steps and len(candidates) > 1 else self._in_full()

    def _in_full(self) -> Found:
        """As pyspark does it, but the candidates of all folds go through one pool of threads."""
        folds = [Fold(train, validation, len(self.grid)) for train, validation in self.data]
        metrics = [[0.0] * len(self.grid) for _ in folds]
        models: list[list[Any]] = [[None] * len(self.grid) for _ in folds]

        def task(number: int, fold: Fold, fitted: Any) -> None:
            with fold.use():
                place, model = next(fitted)
                metrics[number][place] = self._judge(model, fold, place)
                if self.keep_models:
                    models[number][place] = model

        tasks = []
        for number, fold in enumerate(folds):
            # Thread-safe by pyspark's contract, and what estimators override that fit many candidates at once.
            fitted = self.estimator.fitMultiple(fold.train, self.grid)
            tasks += [lambda n=number, f=fold, m=fitted: task(n, f, m) for _ in self.grid]
        self._run(tasks, folds)
        return Found(metrics, models, [], None)

    def _raced(self, candidates: list[Candidate], steps: list[int]) -> Found:
        folds = [Fold(train, validation, len(steps) * len(candidates)) for train, validation in self.data]
        metrics = [[float("nan")] * len(candidates) for _ in folds]
        models: list[list[Any]] = [[None] * len(candidates) for _ in folds]
        final: set[tuple[int, int]] = set()
        failed: dict[int, Exception] = {}
        noting = threading.Lock()

        def task(number: int, candidate: Candidate, iterations: int) -> None:
            fold, place = folds[number], candidate.place
            if (number, place) in final or place in failed:
                return
            with fold.use():
                try:
                    model: Any = candidate.after(iterations).fit(fold.train)
                except Exception as error:
                    with noting:
                        failed.setdefault(place, error)
                    return
                metrics[number][place] = self._judge(model, fold, place)
            if candidate.most <= iterations or converged(model, iterations):
                final.add((number, place))
            if self.keep_models:
                models[number][place] = model

        racing, rounds = candidates, []
        try:
            for step, iterations in enumerate(steps):
                tasks = [
                    lambda n=number, c=candidate, i=iterations: task(n, c, i)
                    for number in range(len(folds))
                    for candidate in racing
                ]
                self._run(tasks)
                for place in failed.keys() & {candidate.place for candidate in racing}:
                    log.warning("SLAQ: candidate %d is out of the race, its fit failed: %s", place, failed[place])
                    for row in metrics:
                        row[place] = float("nan")
                means = {each.place: float(np.mean([row[each.place] for row in metrics])) for each in racing}
                left = survivors(len(candidates), step, len(steps))
                kept = best(means, left, self.evaluator.isLargerBetter())
                rounds.append(Round(iterations, means, kept))
                if not kept:
                    raise SlaqError(
                        f"no candidate can win: of {len(racing)}, {len(failed)} failed and the metrics of the others "
                        f"are NaN"
                    ) from next(iter(failed.values()), None)
                racing = [candidates[place] for place in kept]
                if len(racing) == 1:
                    break
        finally:
            for fold in folds:
                fold.free()
        return Found(metrics, models, rounds, racing[0].place)

    def _judge(self, model: Any, fold: Fold, place: int) -> float:
        return self.evaluator.evaluate(model.transform(fold.validation, self.grid[place]))

    def _run(self, tasks: list[Any], folds: list[Fold] | None = None) -> None:
        try:
            run(self.data[0][0].sparkSession, tasks, self.parallelism)
        finally:
            for fold in folds or ():
                fold.free()
