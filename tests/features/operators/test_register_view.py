"""Views of other packages: compiled loops read them, alone and inside others, without a cache on disk."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from attrs import frozen

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows, example_add, example_gram, example_scores, register_view
from structsvm.features.operators.composed import PerClass, WithIntercept
from structsvm.features.operators.views import is_built_in
from structsvm.foundation.compute.compilation import _stamps
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem import Problem
from structsvm.problem import loops as loops_module
from structsvm.solvers import FrankWolfe
from structsvm.testing import check_operator
from tests.features.operators.wrapped import Wrapped


class ScaledView(NamedTuple):
    """The rows of another view times a number."""

    ptr: IntVector
    rows: Any
    factor: float


def scaled_scores(view: Any, i: int, w: Vector, out: Vector) -> None:
    example_scores(view.rows, i, w, out)
    out *= view.factor


def scaled_add(view: Any, i: int, c: Vector, out: Vector) -> None:
    example_add(view.rows, i, view.factor * c, out)


def scaled_gram(view: Any, i: int, gram: Vector) -> int:
    products = np.zeros(len(gram))
    size = example_gram(view.rows, i, products)
    for k in range(size):
        gram[k] += view.factor**2 * products[k]
    return size


register_view(ScaledView, scaled_scores, scaled_add, scaled_gram)


@frozen(eq=False)
class Scaled(Wrapped):
    factor: float

    @property
    def view(self) -> ScaledView:
        return ScaledView(self.ptr, self.rows.view, self.factor)

    @property
    def gram_sizes(self) -> IntVector | None:
        return self.rows.gram_sizes

    def scores(self, w: Vector) -> Vector:
        return self.factor * super().scores(w)

    def combine(self, c: Vector) -> Vector:
        return self.factor * super().combine(c)


RNG = np.random.default_rng(0)
X, PTR = RNG.standard_normal((40, 3)), np.arange(0, 41, 4)


@pytest.mark.parametrize(
    "operator", [Scaled(Rows(X, PTR), 0.5), WithIntercept(Scaled(Rows(X, PTR), 0.5), 2.0)], ids=["alone", "inside"]
)
def test_compiled_loops_read_it(operator: Operator) -> None:
    check_operator(operator)


@pytest.mark.slow
def test_frank_wolfe_sweeps_over_it_as_over_scaled_rows() -> None:
    y = np.tile([1.0, 0.0, 0.0, 1.0], 10)
    expected = Problem.from_queries(Rows(0.5 * X, PTR), y, loss="roc_area", C=10.0)
    mine = Problem.from_queries(Scaled(Rows(X, PTR), 0.5), y, loss="roc_area", C=10.0)
    results = [FrankWolfe().solve(problem) for problem in (expected, mine)]
    np.testing.assert_allclose(results[1].w, results[0].w)
    assert len(results[1].history) == len(results[0].history)


@pytest.mark.slow
def test_code_for_it_is_not_kept_on_disk() -> None:
    """The folder of the sweep has no file that speaks of it: numba would not see that its functions changed."""
    check_operator(Scaled(Rows(X, PTR), 0.5))
    test_frank_wolfe_sweeps_over_it_as_over_scaled_rows()
    folder = Path(loops_module.__file__).parents[1]
    assert not [path for path in folder.rglob("*.nb[ic]") if b"ScaledView" in path.read_bytes()]


@pytest.mark.parametrize("loops", ["structsvm.features.operators.views", "structsvm.problem.loops"])
def test_code_that_is_kept_is_compiled_again_when_a_view_of_the_package_changes(loops: str) -> None:
    """The files of the loops do not import the views' files, although their machine code contains them."""
    looked_at = {name for name, _, _ in _stamps(loops)}
    for file in ("dense", "sparse", "binned", "composed"):
        assert f"structsvm.features.operators.{file}" in looked_at


@pytest.mark.parametrize(
    ("operator", "kept"),
    [
        (Rows(X, PTR), True),
        (PerClass(WithIntercept(Rows(X, PTR), 1.0), 2), True),
        (Scaled(Rows(X, PTR), 0.5), False),
        (PerClass(WithIntercept(Scaled(Rows(X, PTR), 0.5), 1.0), 2), False),
    ],
)
def test_views_of_the_package_are_told_from_others(operator: Operator, kept: bool) -> None:
    assert is_built_in(operator.view) is kept


class NoPtr(NamedTuple):
    X: Any


@pytest.mark.parametrize(
    ("kind", "scores", "message"),
    [
        (NoPtr, scaled_scores, "NoPtr must be a NamedTuple whose first field is ptr"),
        (Rows, scaled_scores, "Rows must be a NamedTuple whose first field is ptr"),
        (ScaledView, lambda view, i, w: None, "<lambda> must have 4 arguments, as example_scores has"),
    ],
)
def test_invalid_views_are_errors(kind: type, scores: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        register_view(kind, scores, scaled_add)
