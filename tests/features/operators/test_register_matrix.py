"""A kind of matrix of another package: read, kept, looked at by compiled loops, put together, and trained on."""

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pytest
from attrs import frozen

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features.operators import MatrixKind, Rows, readable, register_matrix, register_view
from structsvm.features.operators.composed import PerClass, WithIntercept
from structsvm.features.operators.views import is_built_in
from structsvm.foundation.types import IntVector, Vector
from structsvm.testing import check_operator


@frozen(eq=False)
class OneHot:
    """Rows with a single 1, in the column that is kept."""

    column: Any
    width: int
    ndim = 2

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.column), self.width

    @property
    def size(self) -> int:
        return len(self.column)

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self.column[rows], self.width)

    def toarray(self) -> Any:
        return np.eye(self.width)[self.column]


class OneHotView(NamedTuple):
    ptr: IntVector
    column: Any


def one_hot_scores(view: Any, i: int, w: Vector, out: Vector) -> None:
    for row in range(len(out)):
        out[row] = w[view.column[view.ptr[i] + row]]


def one_hot_add(view: Any, i: int, c: Vector, out: Vector) -> None:
    for row in range(len(c)):
        out[view.column[view.ptr[i] + row]] += c[row]


class OneHotKind(MatrixKind):
    classes = (OneHot,)
    finite = True

    def read(self, X: Any) -> Any:
        return X if isinstance(X, OneHot) else None

    def stack(self, blocks: Sequence[Any]) -> OneHot:
        return OneHot(np.concatenate([block.column for block in blocks]), blocks[0].width)

    def view(self, X: Any, ptr: IntVector) -> OneHotView:
        return OneHotView(ptr, X.column)


register_view(OneHotView, one_hot_scores, one_hot_add)
register_matrix(OneHotKind())

RNG = np.random.default_rng(0)
X, PTR = OneHot(RNG.integers(0, 6, 80), 6), np.arange(0, 81, 8)


def test_it_is_read_where_it_is() -> None:
    rows = Rows.of(X)
    assert readable(X) is X is rows.X
    assert (rows.n, rows.d, rows.stored) == (80, 6, 80)
    assert np.shares_memory(rows.block(3, 9).X.column, X.column)  # type: ignore[attr-defined]
    assert not is_built_in(rows.view)


@pytest.mark.slow
@pytest.mark.parametrize("operator", [Rows(X, PTR), PerClass(WithIntercept(Rows(X, PTR), 2.0), 3)])
def test_operators_of_it_are_right(operator: Any) -> None:
    check_operator(operator)


def test_the_inputs_of_examples_are_put_under_one_another() -> None:
    rows = Rows.of([X[:30], X[30:]])
    w = RNG.standard_normal(6)
    np.testing.assert_array_equal(rows.ptr, [0, 30, 80])
    np.testing.assert_array_equal(rows.scores(w), X.toarray() @ w)


def test_a_ranker_takes_it_as_it_is() -> None:
    y, qid = RNG.integers(0, 2, 80) * 1.0, np.repeat(np.arange(10), 8)
    one_hot, dense = (Ranker(solver="one-slack").fit(each, y, qid=qid).predict(each) for each in (X, X.toarray()))
    np.testing.assert_allclose(one_hot, dense, atol=1e-12)


@pytest.mark.parametrize("unknown", [[[1.0]], "text", object()])
def test_rows_are_of_a_known_kind(unknown: Any) -> None:
    kept = r"X must be ndarray, csr_array, csr_matrix, BinnedMatrix.* got (list|str|object): .*readable"
    with pytest.raises(InputError, match=kept):
        Rows(unknown, PTR).scores(np.ones(1))
