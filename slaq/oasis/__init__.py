"""OASiS: admission and elastic plans by prices (Bao, Peng, Wu, Li: *Online Job Scheduling in Distributed Machine
Learning Clusters*, INFOCOM 2018). Every slot of the future has a price that rises with what is promised of it; a job is
admitted if its value at the best plan's end exceeds what the plan costs."""

from slaq.oasis.best import best_plan
from slaq.oasis.market import Market, bounds_between, bounds_of, value_density
from slaq.oasis.pool import Bounds, Pool
from slaq.oasis.request import Plan, Request, Side
from slaq.oasis.utility import PRESETS, Utility, of_wish

__all__ = [
    "PRESETS", "Bounds", "Market", "Plan", "Pool", "Request", "Side", "Utility", "best_plan", "bounds_between",
    "bounds_of", "of_wish", "value_density",
]  # fmt: skip
