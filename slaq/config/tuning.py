"""The table `[tuning]`: numbers of `slaq.model.Tuning` that an operator changes.

Its keys are the fields of that record. They are looked up only where the table is used, because the decision core
loads numpy, which drivers do without.
"""

import math
from typing import TYPE_CHECKING

from slaq.config.values import as_float
from slaq.errors import SlaqError

if TYPE_CHECKING:
    from slaq.model.tuning import Tuning

TUNING = "tuning"


def tuning_record() -> "type[Tuning]":
    """The record whose fields are the keys."""
    from slaq.model.tuning import Tuning

    return Tuning


def tuning_keys() -> tuple[str, ...]:
    """The keys of the table, with its name in front."""
    return tuple(f"{TUNING}.{field}" for field in tuning_record().__struct_fields__)


def tuning_value(value: object) -> float:
    """The value as the record holds it, or a SlaqError about what to give instead."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < math.inf:
        return as_float(value)
    raise SlaqError(f"is {value!r}; give a positive, finite number")


def tuning_docs() -> dict[str, str]:
    """What each field means, as the record's source says: the text below the field."""
    import ast
    import inspect

    (record,) = ast.parse(inspect.getsource(tuning_record())).body
    docs: dict[str, str] = {}
    field = ""
    for statement in record.body if isinstance(record, ast.ClassDef) else ():
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            field = statement.target.id
        elif field and isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            docs[field] = " ".join(str(statement.value.value).split())
    return docs
