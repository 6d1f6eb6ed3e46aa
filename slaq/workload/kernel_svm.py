"""A support vector machine with a polynomial kernel, trained by an optimizer of its own on an RDD of numpy blocks.

MLlib has no kernels. This is what a user's own optimizer looks like, and what it takes to have it scheduled by its
quality: the one line `report(loss)`, which is `slaq.report` outside of this package's measurements.

The kernel is taken against a fixed set of landmarks drawn from the data, so a model is one weight per landmark. Its
loss is the squared hinge with a ridge, minimised by Nesterov's accelerated gradient.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows, already seen through the kernel: kernel values against every landmark, and labels of ±1."""

    kernel: Floats
    label: Floats


def polynomial(rows: Floats, landmarks: Floats, degree: int) -> Floats:
    """(1 + x·z / features) ** degree for every row and landmark."""
    return np.asarray((1.0 + rows @ landmarks.T / rows.shape[1]) ** degree)


def train(
    frame: "DataFrame", landmarks: int, degree: int, iterations: int, ridge: float, report: Callable[[float], None]
) -> Floats:
    """The weights of the landmarks after a number of iterations; `report` gets the loss of each."""
    anchors = np.array([row.features.toArray() for row in frame.select("features").limit(landmarks).collect()])
    blocks = frame.rdd.mapPartitions(lambda rows: kernel_block(rows, anchors, degree)).cache()
    rows = float(frame.count())
    step = 1.0 / (curvature(blocks) / rows + ridge)
    weights = ahead = np.zeros(len(anchors))
    for k in range(iterations):
        loss, gradient = blocks.map(partial(hinge, weights=ahead)).reduce(added)
        report(loss / rows + ridge / 2.0 * float(ahead @ ahead))
        stepped = ahead - step * (gradient / rows + ridge * ahead)
        ahead = stepped + k / (k + 3.0) * (stepped - weights)
        weights = stepped
    blocks.unpersist()
    return weights


def kernel_block(rows: Iterable, landmarks: Floats, degree: int) -> Iterator[Block]:  # type: ignore[type-arg]
    """A partition as one block."""
    pairs = [(row.features.toArray(), row.label) for row in rows]
    if pairs:
        features = np.array([features for features, _ in pairs])
        labels = np.where(np.array([label for _, label in pairs]) > 0, 1.0, -1.0)
        yield Block(polynomial(features, landmarks, degree), labels)


def hinge(block: Block, weights: Floats) -> tuple[float, Floats]:
    """Half the squared hinge loss of a block and its gradient."""
    missing = np.maximum(1.0 - block.label * (block.kernel @ weights), 0.0)
    return float(missing @ missing) / 2.0, -(block.kernel.T @ (block.label * missing))


def added(one: tuple[float, Floats], other: tuple[float, Floats]) -> tuple[float, Floats]:
    """Two losses with their gradients, together."""
    return one[0] + other[0], one[1] + other[1]


def curvature(blocks: "RDD[Block]") -> float:
    """The largest eigenvalue of the kernel's second moment, which bounds the step of a gradient method."""
    moment = blocks.map(lambda block: block.kernel.T @ block.kernel).reduce(np.add)
    return float(np.linalg.eigvalsh(moment)[-1])
