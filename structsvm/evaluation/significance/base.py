"""The interface of paired significance tests."""

from collections.abc import Callable

from attrs import frozen

from structsvm.foundation.types import Vector


@frozen
class SignificanceTest:
    """A two-tailed test of the differences of two systems, query by query.

    ``p_value(differences, n_resamples, random_state)`` is None if undefined. In the ``description``, "{queries}" stands
    for "queries" or "topics".
    """

    label: str
    description: str
    p_value: Callable[[Vector, int, int], float | None]
