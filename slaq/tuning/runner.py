"""A race on Spark: fits candidates up to a rung, has them judged, and lets the rules say who goes on."""

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from slaq.driver.notices import log
from slaq.errors import SlaqError
from slaq.tuning.budget import Candidate, converged
from slaq.tuning.folds import Fold
from slaq.tuning.race import Round, best, survivors, thawed

if TYPE_CHECKING:
    from slaq.tuning.searching import Search

NAN = float("nan")


class Runner:
    """One race. `metrics` and `models`, by fold and candidate, are those of the last rung that each one reached."""

    def __init__(self, search: "Search", candidates: list[Candidate], steps: int) -> None:
        self._search, self._candidates = search, candidates
        self._folds = [Fold(train, validation, steps * len(candidates)) for train, validation in search.data]
        self.metrics = [[NAN] * len(candidates) for _ in self._folds]
        self.models: list[list[Any]] = [[None] * len(candidates) for _ in self._folds]
        self._final: set[tuple[int, int]] = set()
        """Fold and candidate of fits to which more iterations would add nothing."""
        self._failed: dict[int, Exception] = {}
        self._lock = threading.Lock()

    def run(self, steps: list[int]) -> list[Round]:
        """Race to the last rung, or until one candidate is left; the first of those kept last is the winner."""
        larger = self._search.evaluator.isLargerBetter()
        running, rounds = self._candidates, []
        frozen: dict[int, float] = {}
        try:
            for step, iterations in enumerate(steps):
                means = self._compare(running, iterations)
                returned: list[int] = []
                while back := thawed(frozen, means, larger):
                    means |= self._compare([self._candidates[place] for place in back], iterations)
                    returned += back
                    frozen = {place: value for place, value in frozen.items() if place not in back}
                kept = best(means, survivors(len(self._candidates), step, len(steps)), larger)
                rounds.append(Round(iterations, means, kept, tuple(returned)))
                if not kept:
                    raise self._nobody()
                frozen |= {place: value for place, value in means.items() if place not in kept}
                running = [self._candidates[place] for place in kept]
                if step + 1 < len(steps) and len(running) == 1:
                    break
        finally:
            for fold in self._folds:
                fold.free()
        return rounds

    def _compare(self, racing: list[Candidate], iterations: int) -> dict[int, float]:
        """The mean metric of each candidate after so many iterations; NaN if its fit failed on any fold."""
        known = set(self._failed)
        numbers = range(len(self._folds))
        self._search.go([lambda n=n, c=each: self._fit(n, c, iterations) for n in numbers for each in racing])
        for place in self._failed.keys() - known:
            log.warning("SLAQ: candidate %d is out of the race, its fit failed: %s", place, self._failed[place])
            for row in self.metrics:
                row[place] = NAN
        return {each.place: float(np.mean([row[each.place] for row in self.metrics])) for each in racing}

    def _fit(self, number: int, candidate: Candidate, iterations: int) -> None:
        fold, place = self._folds[number], candidate.place
        if (number, place) in self._final or place in self._failed:
            return
        with fold.use():
            try:
                model: Any = candidate.after(iterations).fit(fold.train)
            except Exception as error:
                with self._lock:
                    self._failed.setdefault(place, error)
                return
            self.metrics[number][place] = self._search.judge(model, fold, place)
        with self._lock:
            if candidate.most <= iterations or converged(model, iterations):
                self._final.add((number, place))
        if self._search.keep_models:
            self.models[number][place] = model

    def _nobody(self) -> SlaqError:
        error = SlaqError(
            f"no candidate can win: of {len(self._candidates)}, {len(self._failed)} failed and the metrics of the "
            "others are NaN"
        )
        error.__cause__ = next(iter(self._failed.values()), None)
        return error
