"""Watching a predictor at work: which outlook it made, and whether the policy looked at it."""

from collections.abc import Callable, Sequence

from slaq.engine import Predictor
from slaq.model import FloatArray, IntArray, Job, Outlook, Tuning


class WatchedOutlook:
    """An outlook that is made when it is first asked: not every policy asks."""

    def __init__(self, jobs: Sequence[Job], make: Callable[[], Outlook]) -> None:
        self.jobs = jobs
        self._make = make
        self._outlook: Outlook | None = None

    @property
    def used(self) -> bool:
        """Whether the policy looked at it."""
        return self._outlook is not None

    def _asked(self) -> Outlook:
        if self._outlook is None:
            self._outlook = self._make()
        return self._outlook

    def reduction(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.reduction."""
        return self._asked().reduction(job, cores)

    def loss(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.loss."""
        return self._asked().loss(job, cores)

    def ahead(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.ahead."""
        return self._asked().ahead(job, cores)

    def worked(self, job: IntArray, cores: FloatArray) -> FloatArray:
        """See Outlook.worked."""
        return self._asked().worked(job, cores)

    def work_ahead(self, share: float) -> tuple[FloatArray, FloatArray]:
        """See Outlook.work_ahead."""
        return self._asked().work_ahead(share)

    def reached(self) -> FloatArray:
        """See Outlook.reached."""
        return self._asked().reached()

    def until(self, share: float) -> FloatArray:
        """See Outlook.until."""
        return self._asked().until(share)


class WatchedPredictor:
    """A predictor that remembers its latest outlook."""

    def __init__(self, predictor: Predictor) -> None:
        self.predictor = predictor
        self.outlook: WatchedOutlook | None = None

    def __call__(self, jobs: Sequence[Job], epoch_s: float, tuning: Tuning) -> WatchedOutlook:
        self.outlook = WatchedOutlook(jobs, lambda: self.predictor(jobs, epoch_s, tuning))
        return self.outlook
