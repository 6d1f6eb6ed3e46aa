"""What a new fit is expected to take: past fits of its estimator, those most like it counting most.

Fits are alike by the sizes of their data, on a logarithmic scale, and by their parameters; a kernel over both gives
every past fit a weight W. Averages are taken of logarithms. An average is as sure as it has weight and agreement behind
it: s = W / (W + few + W · variance). What it lacks to 1 is filled up by the average over the estimator's other fits,
made the same way, and then by that over the fits of other estimators. So an estimator that meets the same data again is
expected to repeat itself, one that meets other data to do as it usually does, and of one that was never seen little is
expected.
"""

import math
from collections.abc import Callable, Iterable, Sequence

from slaq.model import DEFAULTS, Tuning
from slaq.model.expectation import EXPECT_NOTHING, Expectation, Expected
from slaq.model.past import PastFit, milestones
from slaq.records import Param, Traits

MOST_FITS = 2000
"""Past fits that are kept; the oldest go first."""
MOST_ALIKE = 64
"""Of an estimator, the latest so many are compared with a new fit: enough for every data set in use, and the cost of a
beginning job stays below a millisecond."""
MOST_ANSWERS = 1000

SIZES = ("partitions", "bytes")

Estimate = tuple[float, float]
"""A logarithm, and how sure it is."""
UNKNOWN: Estimate = (0.0, 0.0)

Quantity = Callable[[PastFit], float | None]


class PastFits:
    """The latest past fits. Not thread-safe: whoever owns it takes care."""

    def __init__(self, tuning: Tuning = DEFAULTS) -> None:
        self.tuning = tuning
        self._fits: dict[str, list[PastFit]] = {}
        """By estimator, oldest first; the estimator that was heard of last is last."""
        self._count = 0
        self._answers: dict[object, Expectation] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, fits: Iterable[PastFit]) -> None:
        """Remember more of them, oldest first."""
        for fit in fits:
            same = self._fits.pop(fit.estimator, [])
            same.append(fit)
            self._fits[fit.estimator] = same
            self._count += 1
            if self._count > MOST_FITS:
                self._forget()
        self._answers.clear()

    def expect(self, estimator: str, traits: Traits, max_iterations: int | None) -> Expectation:
        """What a fit is expected to take."""
        if not self._count:
            return EXPECT_NOTHING
        key = (estimator, max_iterations, *(getattr(traits, name) for name in SIZES), *sorted(traits.params.items()))
        if (known := self._answers.get(key)) is None:
            if len(self._answers) >= MOST_ANSWERS:
                self._answers.clear()
            known = self._answers[key] = self._expected(estimator, traits, max_iterations).packed()
        return known

    def _expected(self, estimator: str, traits: Traits, limit: int | None) -> Expected:
        tuning = self.tuning
        same = self._fits.get(estimator, [])[-MOST_ALIKE:]
        others = [fit for name, fits in self._fits.items() if name != estimator for fit in fits[-MOST_ALIKE:]]
        alike = [likeness(traits, fit.traits, tuning) for fit in same]
        # Every level counts what the nearer one does not, so that nothing is counted twice.
        levels = (
            (others[-MOST_ALIKE:], [1.0] * len(others[-MOST_ALIKE:]), tuning.unlike_variance),
            (same, [1.0 - weight for weight in alike], tuning.unlike_variance),
            (same, alike, 0.0),
        )

        def usual(quantity: Quantity) -> Estimate:
            found = UNKNOWN
            for fits, weights, variance in levels:
                found = averaged(fits, weights, quantity, found, tuning.few_fits, variance)
            return found

        ready, work = usual(lambda fit: fit.ready_core_s), usual(lambda fit: fit.work_core_s)
        serial = usual(lambda fit: fit.serial_s + tuning.least_serial_s)
        whole = [(fit, weight) for fit, weight in zip(same, alike, strict=True) if fit.reached]
        at_90, at_95, at_end = (_iterations(whole, limit, place, tuning.few_fits) for place in range(3))
        return Expected(
            ready_core_s=_number(ready),
            ready_sure=ready[1],
            work_core_s=_number(work),
            serial_s=max(_number(serial) - tuning.least_serial_s, 0.0),
            work_sure=work[1],
            at_90=_number(at_90),
            at_95=_number(at_95),
            at_end=_number(at_end),
            length_sure=at_90[1],
        )

    def _forget(self) -> None:
        """The oldest fit of the estimator that has the most."""
        most = max(self._fits.values(), key=len)
        del most[0]
        self._count -= 1


def likeness(one: Traits, other: Traits, tuning: Tuning = DEFAULTS) -> float:
    """How much the past fit `other` says of `one`, from 0 to 1: 1 for the same data and parameters.

    A size that one of them does not know is no difference: at its beginning a fit knows only its parameters.
    """
    apart = 0.0
    for name in SIZES:
        a, b = getattr(one, name), getattr(other, name)
        if a is not None and b is not None:
            apart += (math.log((a + 1.0) / (b + 1.0)) / tuning.size_apart) ** 2
    for name in one.params.keys() | other.params.keys():
        apart += (_unlike(one.params.get(name), other.params.get(name)) / tuning.param_apart) ** 2
    return math.exp(-0.5 * apart)


def averaged(
    fits: Sequence[PastFit],
    weights: Sequence[float],
    quantity: Quantity,
    otherwise: Estimate,
    few: float,
    least: float = 0.0,
) -> Estimate:
    """The weighted mean logarithm of a quantity, filled up with `otherwise` where it is not sure.

    Its variance is taken to be at least `least`: two fits may agree by chance.
    """
    known = [
        (weight, math.log(value))
        for fit, weight in zip(fits, weights, strict=True)
        if (value := quantity(fit)) is not None and 0.0 < value < math.inf
    ]
    weight = math.fsum(each for each, _ in known)
    if not weight > 0.0:
        return otherwise
    mean = math.fsum(each * log for each, log in known) / weight
    variance = max(math.fsum(each * (log - mean) ** 2 for each, log in known) / weight, least)
    sure = weight / (weight * (1.0 + variance) + few)
    rest = (1.0 - sure) * otherwise[1]
    return (sure * mean + rest * otherwise[0]) / (sure + rest), sure + rest


def _iterations(fits: Sequence[tuple[PastFit, float]], limit: int | None, place: int, few: float) -> Estimate:
    """The logarithm of 1 + the iteration of a milestone. Only fits that are alike count: how an estimator converges in
    general is part of what the predictor has learned."""
    at = {id(fit): 1.0 + milestones(fit, limit)[place] for fit, _ in fits}
    found = averaged([fit for fit, _ in fits], [weight for _, weight in fits], lambda fit: at[id(fit)], UNKNOWN, few)
    return (math.log(max(math.expm1(found[0]), 1e-9)), found[1]) if found[1] else UNKNOWN


def _unlike(one: Param | None, other: Param | None) -> float:
    """How different two values of a parameter are: 0 for the same, 1 for other words or a factor of e."""
    if one == other:
        return 0.0
    numbers = [value for value in (one, other) if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < 2:
        return 1.0
    a, b = (math.copysign(math.log1p(abs(value)), value) for value in numbers)
    if max(abs(value) for value in numbers) < 1.0 and all(value > 0.0 for value in numbers):
        a, b = (math.log(value) for value in numbers)  # 1e-5 and 1e-3 differ as 1 and 100 do
    return min(abs(a - b), 1.0)


def _number(estimate: Estimate) -> float:
    return math.exp(estimate[0]) if estimate[1] else 0.0
