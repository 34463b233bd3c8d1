"""Check an operator."""

from typing import Any

import numpy as np
from attrs import frozen

from structsvm.exceptions import CheckError
from structsvm.features.operators import Operator
from structsvm.features.operators.views import write_combination, write_product, write_scores
from structsvm.foundation.compute.environment import numba
from structsvm.foundation.settings import require_integer, require_kind
from structsvm.foundation.types import Vector


def check_operator(operator: Operator, *, random_state: int = 0) -> None:
    """Check that an operator is a linear map with its transpose, and can be split into blocks.

    The check requires that

    - ``ptr`` begins at 0, does not fall, and ends at the number of scores,
    - ``scores`` and ``combine`` return finite float64 vectors of the right length, are linear, and do not change their
      arguments,
    - ``combine`` is the transpose of ``scores``: ``c·(A w) = (A' c)·w``,
    - ``block`` and ``combine_each`` agree with ``scores`` and ``combine`` on their examples,
    - compiled loops that read ``view``, if there is one, return the same.

    Parameters
    ----------
    operator : the operator to check, of at least two examples, of different lengths if possible.
    random_state : seed of the random weights and coefficients.

    Raises
    ------
    CheckError : the first mistake found, with the expected and the actual value.

    Examples
    --------
    >>> from structsvm.features.operators import Rows
    >>> check_operator(Rows(np.eye(3), ptr=np.array([0, 1, 3])))
    """
    require_kind("operator", operator, Operator, "an Operator")
    require_integer("random_state", random_state, 0)
    check = _Check(operator, np.random.default_rng(random_state))
    check.ptr()
    check.linear()
    if operator.view is not None:
        check.view()
    check.parts()


@frozen(eq=False)
class _Check:
    operator: Operator
    random: np.random.Generator

    def ptr(self) -> None:
        ptr = np.asarray(self.operator.ptr)
        wanted = "ptr, an int64 vector that begins at 0 and does not fall"
        fits = (
            ptr.ndim == 1 and ptr.dtype == np.int64 and len(ptr) > 0 and ptr[0] == 0 and bool((np.diff(ptr) >= 0).all())
        )
        self._require(fits, wanted, f"{ptr.dtype} {ptr}")
        self._require(self.operator.n >= 2, "at least two examples to check with", self.operator.n)
        self._require(self.operator.d >= 1, "at least one weight", f"d={self.operator.d}")
        self._require(self.operator.stored >= 0, "a number of stored values", f"stored={self.operator.stored}")

    def linear(self) -> None:
        v, w = self.random.standard_normal((2, self.operator.d))
        b, c = self.random.standard_normal((2, self._scored))
        scores, combined = self._scores(w), self._combine(c)
        self._same(
            self._scores(v - 2.0 * w), self._scores(v) - 2.0 * scores, "scores(v − 2 w) = scores(v) − 2 scores(w)"
        )
        self._same(
            self._combine(b - 2.0 * c),
            self._combine(b) - 2.0 * combined,
            "combine(b − 2 c) = combine(b) − 2 combine(c)",
        )
        self._same(c @ scores, combined @ w, "the transpose of scores in combine, c·scores(w) = combine(c)·w")

    def parts(self) -> None:
        operator, ptr = self.operator, self.operator.ptr
        w, c = self.random.standard_normal(operator.d), self.random.standard_normal(self._scored)
        # Blocks repeat shared scores.
        c[ptr[-1] :] = 0.0
        scores = self._scores(w)
        parts = []
        for start, stop in [*((i, i + 1) for i in range(operator.n)), (0, operator.n), (1, operator.n)]:
            block = operator.block(start, stop)
            place = f"block({start}, {stop})"
            self._same(block.ptr, ptr[start : stop + 1] - ptr[start], f"{place}.ptr that begins at 0")
            part = self._part(scores, start, stop)
            self._same(block.scores(w), part, f"{place}.scores(w) that are its part of all scores")
            parts.append(block.combine(self._part(c, start, stop)))
            if operator.view is not None:
                self._require(block.view is not None, f"{place}.view, as the whole has one", None)
        parts = parts[: operator.n]
        self._same(np.sum(parts, axis=0), self._combine(c), "the sum of all blocks' combine(c) that is combine(c)")
        order = np.arange(operator.n)[::-1].copy()
        combined = operator.combine_each(c[: ptr[-1]], order)
        self._same(combined, np.stack(parts)[order], "combine_each(c) as the blocks have it")

    def view(self) -> None:
        operator, ptr = self.operator, self.operator.ptr
        view: Any = operator.view
        self._same(view.ptr, ptr, "view.ptr that is ptr")
        w, c = self.random.standard_normal(operator.d), self.random.standard_normal(self._scored)
        scores = self._scores(w)
        for i in range(operator.n):
            coefficients = self._part(c, i, i + 1)
            written, combined = np.full(len(coefficients), np.nan), np.full(operator.d, np.nan)
            try:
                write_scores(view, i, w, written)
                write_combination(view, i, coefficients, combined)
            except numba.core.errors.TypingError as error:
                wanted = f"a view that compiled loops can read after register_view ({type(view).__name__})"
                self._require(False, wanted, error)
            self._same(written, self._part(scores, i, i + 1), f"compiled scores of example {i} as scores has them")
            self._same(combined, operator.block(i, i + 1).combine(coefficients), f"a compiled combine of example {i}")
            if operator.gram_sizes is not None:
                step = operator.block(i, i + 1).scores(combined)
                write_product(view, i, coefficients, np.empty(int(operator.gram_sizes[i])), written)
                self._same(written, step, f"a compiled product of example {i} that is scores(combine(c))")

    @property
    def _scored(self) -> int:
        return int(self.operator.ptr[-1]) + self.operator.shared

    def _part(self, of_scores: Vector, start: int, stop: int) -> Vector:
        """Return the part of a vector over scores that belongs to examples, with the shared scores."""
        ptr = self.operator.ptr
        return np.concatenate((of_scores[ptr[start] : ptr[stop]], of_scores[ptr[-1] :]))

    def _scores(self, w: Vector) -> Vector:
        return self._vector("scores", w, self._scored)

    def _combine(self, c: Vector) -> Vector:
        return self._vector("combine", c, self.operator.d)

    def _vector(self, method: str, values: Vector, length: int) -> Vector:
        before = values.copy()
        out = getattr(self.operator, method)(values)
        self._require(np.array_equal(values, before), f"{method} to leave its argument unchanged", "other values")
        came = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        fits = isinstance(out, np.ndarray) and out.dtype == np.float64 and out.shape == (length,)
        self._require(fits, f"{method} to return a float64 vector of length {length}", came)
        self._require(bool(np.isfinite(out).all()), f"finite numbers of {method}", out)
        return np.asarray(out)

    def _same(self, got: Any, wanted: Any, what: str) -> None:
        got, wanted = np.asarray(got), np.asarray(wanted)
        agree = got.shape == wanted.shape and np.allclose(
            got, wanted, rtol=1e-9, atol=1e-9 * (1.0 + np.abs(wanted).max(initial=0.0))
        )
        self._require(agree, f"{what}: {_shown(wanted)}", _shown(got))

    def _require(self, truth: bool, expected: str, got: object) -> None:
        if not truth:
            raise CheckError(f"{type(self.operator).__name__}: expected {expected}, got {got}.")


def _shown(numbers: Any) -> str:
    return np.array2string(np.asarray(numbers), precision=6, threshold=20, max_line_width=1000)
