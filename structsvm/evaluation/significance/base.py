"""The interface of paired significance tests."""

from collections.abc import Callable

from attrs import frozen

from structsvm.foundation.types import Vector


@frozen
class SignificanceTest:
    """A two-tailed test of the differences of two systems, query by query; see `structsvm.evaluation.significance`.

    ``p_value(differences, n_resamples, random_state)`` returns the p-value, or None if it is undefined. ``label`` names
    it in tables, ``description`` in notes, in which "{queries}" stands for "queries" or "topics".
    """

    label: str
    description: str
    p_value: Callable[[Vector, int, int], float | None]
