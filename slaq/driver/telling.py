"""What the agent is told of a job: its declaration, what its tasks held, its reports."""

from slaq.agent import Agent
from slaq.config import Config
from slaq.driver.early import EarlyRule
from slaq.driver.notices import log, once
from slaq.driver.other import PAUSE_S
from slaq.driver.tracked import CUSTOM, TrackedJob
from slaq.errors import SlaqError
from slaq.protocol import Declaration


class Teller:
    """Brings an agent up to date about one job at a time; can be called again after any failure."""

    def __init__(self, config: Config, early: EarlyRule) -> None:
        self._config, self._early, self._wish = config, early, config.wish

    def tell(self, agent: Agent, job: TrackedJob, now_s: float) -> None:
        """Everything about the job but its end. A report is taken off the job once the agent has it."""
        active = job.active(now_s)
        job.price()
        if job.announced or active or job.reports:
            config = self._config
            declaration = job.declaration(config.weight, config.reserved_cores, config.max_cores, self._wish)
            if declaration != job.announced:
                _announce(agent, job, declaration)
        if self._config.endpoint:  # the pools of one driver lend their idle slots by themselves, and sooner
            agent.idle(job.id, job.idle_s > PAUSE_S)
        agent.held(job.id, job.usage.held_s, job.due_core_s())
        news = bool(job.reports)
        while job.reports:
            report = job.reports[0]
            agent.report(job.id, report.loss, report.iteration, report.work_core_s, report.serial_s)
            job.reports.popleft()
        if news and self._early.action != "off" and job.estimator != CUSTOM:
            self._judge(job)

    def _judge(self, job: TrackedJob) -> None:
        try:
            reason = job.judge(self._early)
        except Exception as error:
            once("early", "the early answer of %s could not be judged (%r)", job.name, error)
            return
        if reason is not None and self._early.action == "tell":
            log.warning("SLAQ: %s (%s) is good enough at iteration %s: %s", job.id, job.name, job.iteration, reason)


def _announce(agent: Agent, job: TrackedJob, declaration: Declaration) -> None:
    try:
        agent.begin(job.id, declaration)
    except SlaqError as error:
        once(f"refused {job.id}", "%s; it runs unscheduled", error)
    job.announced = declaration  # also if it was refused: it would be again, and only this job pays for it
