"""Searches: `CrossValidator` and `TrainValidationSplit` as pyspark.ml.tuning's, without a barrier between folds and,
with `racing=True`, without full fits of hopeless candidates."""

from slaq.tuning.race import Race, Round
from slaq.tuning.validators import CrossValidator, TrainValidationSplit

__all__ = ["CrossValidator", "Race", "Round", "TrainValidationSplit"]
