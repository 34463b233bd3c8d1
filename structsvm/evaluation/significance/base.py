"""The interface of paired significance tests."""

from collections.abc import Callable

from attrs import frozen

from structsvm.foundation.types import Vector


@frozen
class SignificanceTest:
    """A two-tailed test of paired differences; ``p_value(differences, n_resamples, random_state)`` may be None."""

    label: str
    description: str
    p_value: Callable[[Vector, int, int], float | None]
