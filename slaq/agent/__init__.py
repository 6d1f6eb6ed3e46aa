"""The agent of a driver: reports up, grants down, and full speed whenever the scheduler is not there."""

from slaq.agent.agent import Agent, Hooks
from slaq.agent.failover import Failover
from slaq.agent.http import Http
from slaq.agent.transport import Direct, RefusedError, RejectedError, Transport, UnreachableError

__all__ = [
    "Agent",
    "Direct",
    "Failover",
    "Hooks",
    "Http",
    "RefusedError",
    "RejectedError",
    "Transport",
    "UnreachableError",
]
