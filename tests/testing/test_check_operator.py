"""Operators with one fault each: the check must find it. Operators of the package pass."""

from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.composed import Pair, PerClass, WithIntercept, WithShared
from structsvm.foundation.types import IntVector, Vector
from structsvm.testing import check_operator

RNG = np.random.default_rng(0)
X, PTR = RNG.standard_normal((6, 3)), np.array([0, 1, 1, 4, 6])


@pytest.mark.parametrize(
    "operator",
    [
        Rows(X, PTR),
        Rows(sp.csr_array(X), PTR),
        pytest.param(WithIntercept(Rows(X.astype(np.float32), PTR), 2.0), marks=pytest.mark.slow),
        WithShared.alone(3, 4),
        pytest.param(Pair(PerClass(Rows(X, PTR), 2), Rows(X[::-1], np.array([0, 3, 4, 4, 6]))), marks=pytest.mark.slow),
    ],
    ids=lambda operator: type(operator).__name__,
)
def test_operators_of_the_package_pass(operator: Operator) -> None:
    check_operator(operator)


class Plain(Operator):
    """Rows without a view."""

    def __init__(self, X: Any = X, ptr: Any = PTR) -> None:
        self.X, self._ptr = X, ptr

    @property
    def ptr(self) -> IntVector:
        return self._ptr  # type: ignore[no-any-return]

    @property
    def d(self) -> int:
        return self.X.shape[1]  # type: ignore[no-any-return]

    @property
    def stored(self) -> int:
        return self.X.size  # type: ignore[no-any-return]

    def scores(self, w: Vector) -> Vector:
        return self.X @ w  # type: ignore[no-any-return]

    def combine(self, c: Vector) -> Vector:
        return self.X.T @ c  # type: ignore[no-any-return]

    def block(self, start: int, stop: int) -> Any:
        rows = slice(self.ptr[start], self.ptr[stop])
        return type(self)(self.X[rows], self.ptr[start : stop + 1] - self.ptr[start])


def test_a_plain_one_passes() -> None:
    check_operator(Plain())


def in_place(self: Any, w: Vector) -> Vector:
    w *= 1.0 + 1e-12
    return X @ w  # type: ignore[no-any-return]


FAULTS: list[tuple[str, Any, str]] = [
    ("scores", lambda self, w: self.X @ w + 1.0, r"expected scores\(v − 2 w\) = scores\(v\) − 2 scores\(w\): "),
    ("scores", lambda self, w: self.X @ w[::-1], "expected the transpose of scores in combine"),
    (
        "scores",
        lambda self, w: (self.X @ w)[:-1],
        r"scores to return a float64 vector of length 6, got .* shape \(5,\)",
    ),
    ("scores", lambda self, w: (self.X @ w).astype(np.float32), "expected scores to return a float64 .*, got float32"),
    ("scores", lambda self, w: None, "expected scores to return a float64 vector of length 6, got NoneType"),
    ("scores", lambda self, w: self.X @ w / 0.0, "expected finite numbers of scores"),
    ("scores", in_place, "expected scores to leave its argument unchanged"),
    ("combine", lambda self, c: self.X.T @ c + 1.0, r"expected combine\(b − 2 c\) = combine\(b\)"),
    ("combine", lambda self, c: -self.X.T @ c, "expected the transpose of scores in combine"),
    ("block", lambda self, i, j: Plain(self.X[i:j], self.ptr[i : j + 1] - self.ptr[i]), r"expected block\(\d, \d\)"),
    ("block", lambda self, i, j: Plain(self.X[self.ptr[i] : self.ptr[j]], self.ptr[i : j + 1]), "ptr that begins at 0"),
    ("combine_each", lambda self, c, each: np.stack([self.X[i] for i in each]), r"combine_each\(c\) as the blocks"),
    ("ptr", property(lambda self: self._ptr + 1), "expected ptr, an int64 vector that begins at 0"),
    ("ptr", property(lambda self: self._ptr.astype(np.int32)), "expected ptr, an int64 vector .*, got int32"),
    ("n", property(lambda self: 1), "expected at least two examples"),
    ("d", property(lambda self: 0), "expected at least one weight"),
    ("stored", property(lambda self: -1), "expected a number of stored values"),
]


@pytest.mark.parametrize(("member", "fault", "message"), FAULTS)
@pytest.mark.filterwarnings("ignore:(divide by zero|invalid value) encountered")
def test_finds_the_fault(member: str, fault: Any, message: str) -> None:
    faulty = type("Faulty", (Plain,), {member: fault})
    with pytest.raises(AssertionError, match=f"^Faulty: .*{message}"):
        check_operator(faulty())


class Unknown(NamedTuple):
    ptr: IntVector


@pytest.mark.parametrize(
    ("view", "message"),
    [
        (lambda self: Rows(2.0 * self.X, self.ptr).view, "expected compiled scores of example 0"),
        (lambda self: Rows(self.X, np.array([0, 1, 2, 4, 6])).view, "expected view.ptr that is ptr"),
        (lambda self: Unknown(self.ptr), "a view that compiled loops can read after register_view"),
        (lambda self: Rows(self.X, self.ptr).view if self.n == 4 else None, "view, as the whole has one"),
    ],
)
def test_finds_a_wrong_view(view: Any, message: str) -> None:
    faulty = type("Faulty", (Plain,), {"view": property(view)})
    with pytest.raises(AssertionError, match=message):
        check_operator(faulty())
