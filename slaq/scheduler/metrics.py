"""The scheduler's numbers for Prometheus, read from what it counts anyway."""

from collections.abc import Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.process_collector import ProcessCollector

from slaq.scheduler.core import Scheduler


class Metrics:
    """The text that Prometheus reads."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._registry = CollectorRegistry(auto_describe=False)
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """All numbers now."""
        return generate_latest(self._registry)

    def describe(self) -> Iterator[Metric]:
        """The names are not asked for in advance."""
        return iter(())

    def collect(self) -> Iterator[Metric]:
        """See prometheus_client: called for every scrape."""
        status, counters = self._scheduler.status(), self._scheduler.counters()
        counted: tuple[tuple[str, int, str], ...] = (
            ("slaq_epochs", status.epoch, "Decisions made"),
            ("slaq_epochs_late", status.epochs_late, "Decisions that came late or not at all"),
            ("slaq_beats", status.beats, "Beats of agents"),
            ("slaq_reports", status.reports, "Reports taken"),
            ("slaq_reports_dropped", status.dropped_reports, "Reports that agents gave up"),
            ("slaq_reports_missed", counters.missed_reports, "Reports that never came"),
            ("slaq_policy_failures", counters.policy_failures, "Epochs that `fair` decided because the policy broke"),
            ("slaq_events_rejected", counters.rejected_events, "Events that the engine refused"),
        )
        measured: tuple[tuple[str, float | None, str], ...] = (
            ("slaq_capacity_cores", status.capacity.cores, "Cores to share out"),
            ("slaq_granted_cores", status.granted_cores, "Cores shared out"),
            ("slaq_applications", status.applications, "Applications that beat"),
            ("slaq_decide_seconds", status.decide_s, "Duration of the latest decision"),
            ("slaq_problems", len(status.problems), "Things an administrator should look at"),
            ("slaq_incarnation", status.incarnation, "Number of this scheduler"),
            ("slaq_mean_normalised_loss", status.mean_loss, "1 at a job's first report, 0 at its expected end"),
        )
        for name, count, text in counted:
            yield CounterMetricFamily(name, text, value=count)
        for name, value, text in measured:
            if value is not None:
                yield GaugeMetricFamily(name, text, value=value)
        jobs = GaugeMetricFamily("slaq_jobs", "Jobs by state", labels=["state"])
        for state, number in sorted(status.jobs.items()):
            jobs.add_metric([state], number)
        yield jobs
        yield from self._by_user()

    def _by_user(self) -> Iterator[Metric]:
        living = GaugeMetricFamily("slaq_user_jobs", "Living jobs by user", labels=["user"])
        cores = GaugeMetricFamily("slaq_user_granted_cores", "Cores shared out, by user", labels=["user"])
        for user, (number, granted) in sorted(self._scheduler.by_user().items()):
            living.add_metric([user], number)
            cores.add_metric([user], granted)
        yield living
        yield cores
        room = CounterMetricFamily("slaq_user_preemptions", "Times that jobs made room for a trial", labels=["user"])
        for user, times in sorted(self._scheduler.preemptions().items()):
            room.add_metric([user], times)
        yield room
