"""Distributions of the time of equal work over machines and calls."""

from abc import ABC, abstractmethod

import numpy as np
from attrs import field, frozen

from structsvm.foundation.settings import not_negative
from structsvm.foundation.types import Matrix


class Spread(ABC):
    """A distribution of factors of the time of a work, independent from worker to worker and from call to call."""

    @abstractmethod
    def factors(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        """Return factors of this shape."""


@frozen
class Even(Spread):
    """All take the same time."""

    def factors(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        return np.ones(shape)


@frozen
class ShiftedExponential(Spread):
    """1 plus an exponential variable; of K workers the slowest takes ``1 + mean · (1 + 1/2 + ... + 1/K)`` on average.

    Lee, Lam, Pedarsani, Papailiopoulos and Ramchandran, "Speeding up distributed machine learning using codes", IEEE
    Transactions on Information Theory 2018, section III.

    Parameters
    ----------
    mean : mean of the exponential variable.
    """

    mean: float = field(validator=not_negative)

    def factors(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        return 1.0 + rng.exponential(self.mean, shape)


@frozen
class Lognormal(Spread):
    """The exponential function of a normal variable; the median is 1, and of K workers the slowest takes about
    ``exp(sigma √(2 ln K))``.

    Parameters
    ----------
    sigma : standard deviation of the logarithm.
    """

    sigma: float = field(validator=not_negative)

    def factors(self, rng: np.random.Generator, shape: tuple[int, ...]) -> Matrix:
        return rng.lognormal(0.0, self.sigma, shape)
