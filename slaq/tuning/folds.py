"""Fits of many candidates on many folds through one pool of threads."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from threading import Lock
from typing import Any

from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession


class Fold:
    """Training and validation data, in memory from the first use until all uses are over."""

    def __init__(self, train: DataFrame, validation: DataFrame, uses: int) -> None:
        self.train, self.validation = train, validation
        self._left, self._cached, self._lock = uses, False, Lock()

    @contextmanager
    def use(self) -> Iterator[None]:
        """One fit on it."""
        with self._lock:
            if not self._cached:
                self.train.cache()
                self.validation.cache()
                self._cached = True
        try:
            yield
        finally:
            with self._lock:
                self._left -= 1
                if self._left <= 0:
                    self.free()

    def free(self) -> None:
        """Out of memory again; a second time does nothing."""
        if self._cached:
            self._cached = False
            self.train.unpersist()
            self.validation.unpersist()


def run(session: SparkSession, tasks: Sequence[Callable[[], Any]], parallelism: int) -> list[Any]:
    """The tasks' results in their order; the first error is raised, once those under way have ended.

    Tasks start in their order. Each inherits this thread's local properties, hence its pool and its `slaq.job`.
    """
    inherit = inheritable_thread_target(session)
    with ThreadPoolExecutor(min(parallelism, len(tasks)), "slaq-search") as pool:
        futures: list[Future[Any]] = [pool.submit(inherit(task)) for task in tasks]
        waiting = set(futures)
        while waiting:
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            if any(future.exception() is not None for future in done):
                for future in waiting:
                    future.cancel()
                raise next(error for future in done if (error := future.exception()) is not None)
        return [future.result() for future in futures]
