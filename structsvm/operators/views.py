"""What compiled loops read of an operator: one type a kind of matrix, and two functions for each.

``example_scores(view, i, w, out)`` writes the scores of example i; ``example_combine(view, i,
c, out)`` writes the combination of its rows by coefficients c. numba picks the code by the
type of the view, so one loop serves all of them. Sums are float64 whatever the storage.
"""

from typing import Any, NamedTuple

from numba.extending import overload

from structsvm.compute.compilation import compiled
from structsvm.operators.row_views import ROW_VIEWS, kind, row_combine, row_scores
from structsvm.types import IntVector, Matrix, Vector


class InterceptView(NamedTuple):
    """The rows of another view with a constant feature after theirs."""

    ptr: IntVector
    rows: Any
    scaling: float


class PerClassView(NamedTuple):
    """K scores for each row of another view."""

    ptr: IntVector
    rows: Any
    n_classes: int


class SharedView(NamedTuple):
    """The weights themselves as the scores of every example."""

    ptr: IntVector


class BesideView(NamedTuple):
    """The scores of one view, then those of another; the first reads ``split`` weights."""

    ptr: IntVector
    a: Any
    b: Any
    split: int


def example_scores(view: Any, i: int, w: Vector, out: Vector) -> None:
    """Write ``A_i w``."""
    raise NotImplementedError


def example_combine(view: Any, i: int, c: Vector, out: Vector) -> None:
    """Write ``A_i' c``."""
    raise NotImplementedError


@overload(example_scores)
def _example_scores(view: Any, i: Any, w: Any, out: Any) -> Any:
    if kind(view) in ROW_VIEWS:

        def scores(view: Any, i: Any, w: Any, out: Any) -> Any:
            row_scores(view, view.ptr[i], w, out)

        return scores
    if kind(view) is InterceptView:

        def scores(view: Any, i: Any, w: Any, out: Any) -> Any:
            example_scores(view.rows, i, w[:-1], out)
            out += view.scaling * w[-1]

        return scores
    if kind(view) is PerClassView:

        def scores(view: Any, i: Any, w: Any, out: Any) -> Any:
            d = len(w) // view.n_classes
            for k in range(view.n_classes):
                example_scores(view.rows, i, w[k * d : (k + 1) * d], out[k :: view.n_classes])

        return scores
    if kind(view) is SharedView:

        def scores(view: Any, i: Any, w: Any, out: Any) -> Any:
            out[:] = w

        return scores
    if kind(view) is BesideView:

        def scores(view: Any, i: Any, w: Any, out: Any) -> Any:
            count = view.a.ptr[i + 1] - view.a.ptr[i]
            example_scores(view.a, i, w[: view.split], out[:count])
            example_scores(view.b, i, w[view.split :], out[count:])

        return scores
    return None


@overload(example_combine)
def _example_combine(view: Any, i: Any, c: Any, out: Any) -> Any:
    if kind(view) in ROW_VIEWS:

        def combine(view: Any, i: Any, c: Any, out: Any) -> Any:
            row_combine(view, view.ptr[i], c, out)

        return combine
    if kind(view) is InterceptView:

        def combine(view: Any, i: Any, c: Any, out: Any) -> Any:
            example_combine(view.rows, i, c, out[:-1])
            out[-1] = view.scaling * c.sum()

        return combine
    if kind(view) is PerClassView:

        def combine(view: Any, i: Any, c: Any, out: Any) -> Any:
            d = len(out) // view.n_classes
            for k in range(view.n_classes):
                example_combine(view.rows, i, c[k :: view.n_classes], out[k * d : (k + 1) * d])

        return combine
    if kind(view) is SharedView:

        def combine(view: Any, i: Any, c: Any, out: Any) -> Any:
            out[:] = c

        return combine
    if kind(view) is BesideView:

        def combine(view: Any, i: Any, c: Any, out: Any) -> Any:
            count = view.a.ptr[i + 1] - view.a.ptr[i]
            example_combine(view.a, i, c[:count], out[: view.split])
            example_combine(view.b, i, c[count:], out[view.split :])

        return combine
    return None


def _write_combined(view: Any, examples: IntVector, c: Vector, out: Matrix) -> None:
    for k in range(len(examples)):
        i = examples[k]
        example_combine(view, i, c[view.ptr[i] : view.ptr[i + 1]], out[k])


write_combined = compiled(_write_combined)
