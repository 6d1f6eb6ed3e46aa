"""One training run: an estimator's fit or a loop of one's own, and the numbers of the model it ends with."""

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from slaq.records import NO_WISH
from slaq.workload.algorithms import algorithm
from slaq.workload.stream import Planned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def train(
    planned: Planned, frame: "DataFrame", expect: Callable[[str, str], None], report: Callable[[str, float], None]
) -> tuple[float, ...]:
    """Train to the end and return the model's numbers.

    `expect(name, uid)` is called before a fit, or with the pool of a job, to name it; `report(name, loss)` gets the
    losses of optimizers that report themselves. The probe sees the others.
    """
    import slaq

    wish = planned.wish
    declared: dict[str, Any] = {"deadline": wish.deadline_s, "utility": wish.utility, "kind": wish.kind}
    chosen = algorithm(planned.algorithm)
    if chosen.custom is not None:

        def tell(loss: float) -> None:
            report(planned.name, loss)
            slaq.report(loss)

        with slaq.job(planned.name, max_iterations=planned.iterations, **declared) as opened:
            expect(planned.name, opened.id)
            return tuple(chosen.custom(frame, planned.iterations, tell))
    assert chosen.estimator is not None
    estimator = chosen.estimator(planned.iterations, planned.seed)
    if chosen.shape is not None:
        chosen.shape(estimator, frame)
    expect(planned.name, estimator.uid)
    with slaq.job(planned.name, **declared) if wish != NO_WISH else nullcontext():
        model = estimator.fit(frame)
    return tuple(numbers(model))


def numbers(model: Any) -> Iterable[float]:
    """What a fitted model consists of."""
    if hasattr(model, "clusterCenters"):
        return [float(value) for centre in model.clusterCenters() for value in centre]
    if hasattr(model, "topicsMatrix"):
        return [float(value) for value in model.topicsMatrix().toArray().ravel()]
    if hasattr(model, "treeWeights"):
        return [float(model.totalNumNodes), *map(float, model.featureImportances.toArray())]
    if hasattr(model, "weights"):
        return [float(value) for value in model.weights.toArray()]
    if getattr(model, "numClasses", 2) > 2:
        return [float(value) for value in model.coefficientMatrix.toArray().ravel()]
    return [float(value) for value in model.coefficients.toArray()]
