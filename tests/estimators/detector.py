"""A detector, as the page on latent variables has it, and data for it."""

from collections.abc import Iterable

import numpy as np
from attrs import frozen

from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import LatentLoss

WIDTH = 4
"""Width of the pattern in the data."""


@frozen
class Detector(LatentLoss[Vector, int, int]):
    """Whether a series has a pattern (1 or 0), and, latent, where it begins."""

    width: int = WIDTH

    def windows(self, x: Vector) -> Matrix:
        return np.lib.stride_tricks.sliding_window_view(x, self.width)

    def joint_feature(self, x: Vector, y: int, h: int) -> Vector:
        return np.append(self.windows(x)[h], 1.0) if y else np.zeros(self.width + 1)

    def loss(self, y: int, y_hat: int, h_hat: int) -> float:
        return float(y != y_hat)

    def initial(self, x: Vector, y: int) -> int:
        return int(np.argmax(self.windows(x).var(axis=1))) if y else 0

    def complete(self, x: Vector, y: int, w: Vector) -> int:
        return int(np.argmax(self.windows(x) @ w[:-1])) if y else 0

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> tuple[int, int]:
        values = self.windows(x) @ w[:-1] + w[-1]
        h = int(np.argmax(values))
        return (1, h) if values[h] + (y == 0) > (y == 1) else (0, 0)

    def argmax(self, x: Vector, w: Vector) -> tuple[int, int]:
        values = self.windows(x) @ w[:-1] + w[-1]
        h = int(np.argmax(values))
        return (1, h) if values[h] > 0.0 else (0, 0)

    def outputs(self, x: Vector, y: int) -> Iterable[tuple[int, int]]:
        return [(0, 0), *((1, h) for h in range(len(x) - self.width + 1))]

    def completions(self, x: Vector, y: int) -> Iterable[int]:
        return range(len(x) - self.width + 1) if y else [0]


def series(n: int, seed: int) -> tuple[list[Vector], list[int]]:
    """Noise, half of it with a pattern at a random place."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for i in range(n):
        x = 0.5 * rng.standard_normal(20)
        if i % 2:
            begin = rng.integers(0, 20 - WIDTH + 1)
            x[begin : begin + WIDTH] += [1.0, -1.5, 1.5, -1.0]
        xs.append(x)
        ys.append(i % 2)
    return xs, ys
