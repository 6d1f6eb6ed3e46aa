"""Optuna: the losses of a trial's fit become its intermediate values, and a trial that is pruned stops its fit.

    def objective(trial):
        step = trial.suggest_float("stepSize", 1e-3, 1.0, log=True)
        with watched(trial):
            model = MultilayerPerceptronClassifier(layers=[4, 8, 2], solver="gd", stepSize=step).fit(train)
        return evaluator.evaluate(model.transform(validation))

Training losses contain the regularisation. Where trials differ in it, report a metric on validation data to Optuna, as
after each of a few rising `maxIter`, and do without this.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from slaq.driver.notices import log, once
from slaq.driver.status import LOSSES_KEPT, JobStatus
from slaq.errors import SlaqError
from slaq.sdk.jobs import LONGEST_GROUP, job, jobs
from slaq.sdk.registry import REGISTRY
from slaq.sdk.stop import stop

if TYPE_CHECKING:
    from optuna.trial import Trial

ROUND_S = 0.1
"""How often the losses are read: as often as the driver loop does."""


@contextmanager
def watched(trial: "Trial", *, name: str | None = None) -> Iterator[None]:
    """Report the losses of the first fit that has any inside the block, and stop it once the trial should be pruned.

    Then the other fits of the block are stopped too, and TrialPruned is raised at its end. A fit that cannot be
    stopped, or ended before it was, is not pruned: its result is known. Give names if two studies run at the same
    time. Where SLAQ is not attached there are no losses, and nothing is pruned.
    """
    from optuna import TrialPruned

    if len(trial.study.directions) > 1:
        raise SlaqError("this study has more than one objective, and Optuna prunes only with one; fit without watched")
    title = name or f"trial-{trial.number}"
    with job(title, group=trial.study.study_name[:LONGEST_GROUP]):
        if REGISTRY.host is None:
            once("optuna", "no losses of trials are known and none is pruned: slaq.attach(spark) first")
        watcher = _Watcher(trial, title)
        watcher.start()
        try:
            yield
        finally:
            watcher.end()
    if watcher.pruned_after:
        raise TrialPruned(f"its fit was stopped after {watcher.pruned_after} losses")


class _Watcher(threading.Thread):
    """Reads the losses of the fits inside one job while they run."""

    def __init__(self, trial: "Trial", title: str) -> None:
        super().__init__(name=f"slaq-{title}", daemon=True)
        self.pruned_after = 0
        """Losses after which the trial was pruned; 0: it was not."""
        self._trial, self._inside = trial, f"{title}/"
        self._sign = -1.0 if trial.study.direction.name == "MAXIMIZE" else 1.0
        self._before = {each.id for each in jobs()}
        self._watched: str | None = None
        self._reported = 0
        self._asked: set[str] = set()
        self._over = threading.Event()

    def run(self) -> None:
        try:
            while not self._over.wait(ROUND_S):
                self._look()
        except Exception as error:
            once(
                "optuna watch", "the losses of a trial are not reported to Optuna any more (%r); its fit goes on", error
            )

    def end(self) -> None:
        """The fits are over."""
        self._over.set()
        self.join()

    def _look(self) -> None:
        fits = [each for each in jobs() if each.name.startswith(self._inside) and each.id not in self._before]
        if self.pruned_after:
            for running in fits:
                if running.state == "running" and running.id not in self._asked:
                    self._asked.add(running.id)
                    _stopped(running)
            return
        fit = next((each for each in fits if self._watched in (None, each.id) and each.losses), None)
        if fit is None:
            return
        self._watched = fit.id
        # A status keeps only the latest losses; what comes after so many would not be told from those before.
        for loss in fit.losses[self._reported :] if self._reported < LOSSES_KEPT else ():
            self._trial.report(self._sign * loss, self._reported)
            self._reported += 1
        if fit.state == "running" and self._trial.should_prune() and _stopped(fit):
            self._asked.add(fit.id)
            self.pruned_after = self._reported


def _stopped(fit: JobStatus) -> bool:
    try:
        log.info("SLAQ: %s: its trial is pruned", stop(fit.id))
    except SlaqError as error:
        once(f"optuna {fit.id}", "a trial should be pruned, but %s", error)
        return False
    return True
