"""The base class of click models."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import ArrayLike

from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector


class ClickModel(ABC):
    """Base class of click models: ``P(click on d at position k) = propensity_k · P(d looks relevant) + offset_k``.

    A subclass implements `propensity`, and `offset` if users also click irrelevant documents. An entry point in the
    group ``structsvm.click_models`` gives the class a name.

    Examples
    --------
    >>> from structsvm.clicks import simulate
    >>> class Patience(ClickModel):  # users leave after each document with probability 0.2
    ...     @property
    ...     def propensity(self):
    ...         return 0.8 ** np.arange(10)
    >>> simulate([2.0, 1.0], [1.0, 1.0], None, Patience(), sessions=1000).clicks.tolist()
    [1000, 791]
    """

    @property
    @abstractmethod
    def propensity(self) -> Vector:
        """Factor between relevance and clicks at each position, shape (positions,), each above 0."""

    @property
    def offset(self) -> Vector:
        """Probability of a click on an irrelevant document at each position, shape (positions,); 0 by default."""
        return np.zeros(len(self.propensity))

    def at(self, position: ArrayLike) -> Vector:
        """Return the propensity at each position, from 1; raise InputError beyond the last position."""
        return _of_positions(self.propensity, position)

    def offset_at(self, position: ArrayLike) -> Vector:
        """Return the offset at each position, from 1; raise InputError beyond the last position."""
        return _of_positions(self.offset, position)


def _of_positions(values: Vector, position: ArrayLike) -> Vector:
    places = np.asarray(position)
    last = int(np.max(places, initial=0))
    if last > len(values):
        raise InputError(
            f"the click model has {len(values)} positions, but the log has position {last}: use a model with "
            f"{last} positions, or leave out the rows of later positions"
        )
    return np.asarray(values[places - 1])
