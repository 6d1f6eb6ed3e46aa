"""Configuration: defaults < conf file < environment < spark.slaq.* < flags, with a source for every value."""

from slaq.config.keys import KEYS, Key
from slaq.config.load import load, stray_variables
from slaq.config.markdown import reference
from slaq.config.record import BudgetConfig, Config, LimitsConfig, RetentionConfig, SchedulerConfig, UserConfig
from slaq.config.template import literal, template
from slaq.config.tokens import read_token

__all__ = [
    "KEYS",
    "BudgetConfig",
    "Config",
    "Key",
    "LimitsConfig",
    "RetentionConfig",
    "SchedulerConfig",
    "UserConfig",
    "literal",
    "load",
    "read_token",
    "reference",
    "stray_variables",
    "template",
]
