"""Which fits belong together, and how they are told apart.

A fit belongs to the group that its user named; otherwise to the outermost fit that started it (a CrossValidator, a
Pipeline); otherwise to the estimator it was started on: Spark's own searches train copies, which keep its uid. A group
of one changes nothing. Members are told apart by the parameters in which they differ.
"""

from collections import OrderedDict
from collections.abc import Mapping

from slaq.spark.records import Begin

GROUPS_KEPT = 256
VALUES_KEPT = 32
"""Values of a parameter that are remembered; with more of them it differs in any case."""

Value = bool | int | float | str | None


class Siblings:
    """The groups of one application's fits."""

    def __init__(self) -> None:
        self._wrappers: dict[str, str] = {}
        """The group that the fits inside each running wrapper belong to."""
        self._values: OrderedDict[str, dict[str, set[Value]]] = OrderedDict()

    def begin(self, begin: Begin) -> str:
        """Note a fit that begins; the group it belongs to."""
        group = begin.group or self._wrappers.get(begin.parent or "") or begin.uid or ""
        if begin.wrapper:
            self._wrappers[begin.job] = group
        elif group:
            self._note(group, begin.params)
        return group

    def end(self, job: str) -> None:
        """Forget a wrapper that has ended."""
        self._wrappers.pop(job, None)

    def differing(self, group: str, params: Mapping[str, Value]) -> str:
        """What tells a fit of the group apart from the others: `regParam=0.1, maxIter=20`."""
        seen = self._values.get(group, {})
        return ", ".join(f"{name}={_short(value)}" for name, value in params.items() if len(seen.get(name, ())) > 1)

    def _note(self, group: str, params: Mapping[str, Value]) -> None:
        seen = self._values.setdefault(group, {})
        self._values.move_to_end(group)
        for name, value in params.items():
            values = seen.setdefault(name, set())
            if len(values) < VALUES_KEPT:
                values.add(value)
        if len(self._values) > GROUPS_KEPT:
            self._values.popitem(last=False)


def _short(value: Value) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
