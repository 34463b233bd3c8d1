"""The interface of operators: the map A from weights to scores, and its transpose."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np

from structsvm.exceptions import InputError
from structsvm.features.operators.views import write_combinations
from structsvm.foundation.compute.threads import in_blocks
from structsvm.foundation.types import IntVector, Matrix, Vector

LARGEST_SCORE = 1e150
"""Largest score that is safe in argmaxes, line searches and the primal: squares overflow from 1e154, and argmaxes are
wrong from 1e307."""


class Operator(ABC):
    """Base class of linear maps A from weights to the scores of all examples, with their transpose.

    The joint feature map is ``Ψ(x, y) = A_x' c(y)``, where A_x is the part of A for x. The operator stores the features
    and never sees a loss; the loss encodes outputs as coefficients ``c(y)`` and never sees features.
    ``structsvm.testing.check_operator`` checks an implementation.

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> A = Rows.of([[[1.0, 0.0], [0.0, 2.0]], [[3.0, 1.0]]])  # an example of two rows, and one of one row
    >>> isinstance(A, Operator), A.n, A.d, A.ptr.tolist()
    (True, 2, 2, [0, 2, 3])
    >>> A.scores(np.array([1.0, 10.0]))
    array([ 1., 20., 13.])
    >>> A.combine(np.array([1.0, 1.0, -1.0]))
    array([-2.,  1.])
    >>> A.block(1, 2).scores(np.array([1.0, 10.0]))
    array([13.])
    """

    @property
    @abstractmethod
    def ptr(self) -> IntVector:
        """Start of each example, shape (n + 1,): its own scores are ``ptr[i]`` to ``ptr[i + 1] − 1``."""

    @property
    def shared(self) -> int:
        """Number of scores that all examples share; they are the last weights, and follow an example's own scores."""
        return 0

    @property
    @abstractmethod
    def d(self) -> int:
        """Number of weights."""

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.ptr) - 1

    @property
    @abstractmethod
    def stored(self) -> int:
        """Number of feature values that a pass over the data reads; a value that is read K times counts K times."""

    @property
    def view(self) -> Any:
        """Instance of a class known to `register_view`; None if compiled loops cannot read this operator."""
        return None

    @property
    def gram_sizes(self) -> IntVector | None:
        """Number of products between rows that `example_gram` adds for each example; None if it adds no products."""
        return None

    @property
    def content(self) -> Any:
        """Arrays, numbers and text in tuples that identify the features; the view by default.

        If it is None, a solver that starts from a result of another `Problem` reuses only the weights.
        """
        return self.view

    @abstractmethod
    def scores(self, w: Vector) -> Vector:
        """Return ``A w``, the scores of all examples, followed by shared scores, shape (ptr[-1] + shared,)."""

    @abstractmethod
    def combine(self, c: Vector) -> Vector:
        """Return ``A' c``, the features combined by one coefficient per score, shape (d,)."""

    @abstractmethod
    def block(self, start: int, stop: int) -> Self:
        """Return the operator of the examples ``start`` to ``stop − 1``, without copying features."""

    def combine_each(self, c: Vector, examples: IntVector) -> Matrix:
        """Return ``A_i' c_i`` of each of these examples, shape (len(examples), d); shared scores have coefficients 0.

        ``c`` has one coefficient per score that is not shared, shape (ptr[-1],).
        """
        out, view, ptr = np.empty((len(examples), self.d)), self.view, self.ptr
        if view is not None:
            rows = np.concatenate([[0], np.cumsum(np.diff(ptr)[examples])])
            in_blocks(lambda k, m: write_combinations(view, examples[k:m], c, out[k:m]), rows)
        else:
            for row, i in enumerate(examples.tolist()):
                out[row] = self.block(i, i + 1).combine(c[ptr[i] : ptr[i + 1]])
        return out


def scores_of_examples(scores: Vector, ptr: IntVector, start: int, stop: int) -> Vector:
    """Return the scores of the examples ``start`` to ``stop − 1``, then the shared scores; a view if possible."""
    separate, shared = scores[ptr[start] : ptr[stop]], scores[ptr[-1] :]
    if not len(shared):
        return separate
    return np.concatenate((separate, shared)) if len(separate) else shared


def largest_score(scores: Vector) -> float:
    """Return the largest absolute score, NaN if some score is NaN; 0 without scores."""
    # Absolute values of all scores would take longer than both passes.
    return max(abs(float(scores.max())), abs(float(scores.min()))) if len(scores) else 0.0


def require_finite_scores(scores: Vector, ptr: IntVector, first: int = 0) -> None:
    """Reject scores that are not finite or too large; ``first`` is the index of the first example."""
    # The comparison is False for NaN.
    if largest_score(scores) <= LARGEST_SCORE:
        return
    worst = int(np.argmax(~(np.abs(scores) <= LARGEST_SCORE)))
    # A shared score counts as one of the last example.
    example = first + min(int(np.searchsorted(ptr, worst, side="right")), len(ptr) - 1) - 1
    raise InputError(
        f"example {example} has features that are NaN, infinite or too large to compute with: one of its scores is "
        f"{scores[worst]:.3g}, and the limit is {LARGEST_SCORE:.0e}. Scale the features, for example with "
        "sklearn.preprocessing.StandardScaler"
    )
