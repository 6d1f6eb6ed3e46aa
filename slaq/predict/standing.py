"""How far a job has come: the numbers that policies, early answers and people's views share."""

from collections.abc import Sequence

import numpy as np

from slaq.model import History, Job, Outlook
from slaq.predict.outlook import look_ahead
from slaq.records import Report, Standing


def standings(outlook: Outlook) -> list[Standing]:
    """The standing of every job of an outlook."""
    columns = (outlook.reached(), outlook.until(0.9), outlook.until(0.95), outlook.until(1.0))
    return [Standing(*row) for row in np.array(columns).T.tolist()]


def standing(losses: Sequence[float], max_iterations: int | None = None, target_loss: float | None = None) -> Standing:
    """The standing of a job that no scheduler follows, from its losses alone."""
    history = History()
    for loss in losses:
        history = history.add(Report(loss))
    job = Job("job", history=history, max_iterations=max_iterations, target_loss=target_loss)
    return standings(look_ahead((job,), epoch_s=1.0))[0]
