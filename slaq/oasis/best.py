"""The best plan for one job at the prices of the moment, whichever way it is found."""

from slaq.oasis.dynamic import dynamic
from slaq.oasis.greedy import cheapest
from slaq.oasis.pool import Pool
from slaq.oasis.request import Plan, Request


def best_plan(workers: Pool, servers: Pool | None, request: Request) -> Plan | None:
    """The plan of the highest payoff; None if none has a positive one, or the job cannot end within the horizon."""
    if request.side is None or servers is None:
        return cheapest(workers, request)
    return dynamic(workers, servers, request, request.side)
