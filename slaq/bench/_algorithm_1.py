"""The paper's Algorithm 1, literally: a heap, one core at a time. The yardstick for speed and for equality."""

import heapq
from collections.abc import Callable, Sequence


def algorithm_1(
    reduction: Callable[[int, int], float],
    weights: Sequence[float],
    max_cores: Sequence[float],
    num_cores: int,
) -> list[int]:
    """Cores per job; `reduction(job, cores)` predicts a job's loss reduction over the epoch.

    The paper leaves open who wins a tie (here: the earlier job), how weights enter (they multiply the reduction,
    §4.3) and that a job may not be able to use another core (it is not queued again).
    """
    alloc = [1] * len(weights)
    num_cores -= len(weights)
    prior_q: list[tuple[float, int]] = []

    def enqueue(job: int) -> None:
        if alloc[job] < max_cores[job]:
            gain = weights[job] * (reduction(job, alloc[job] + 1) - reduction(job, alloc[job]))
            heapq.heappush(prior_q, (-gain, job))

    for job in range(len(weights)):
        enqueue(job)
    while num_cores > 0 and prior_q:
        _, job = heapq.heappop(prior_q)
        alloc[job] += 1
        num_cores -= 1
        enqueue(job)
    return alloc
