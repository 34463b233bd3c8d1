"""A fit with an argmax that weighs the loss a little wrong ends with an error, and not with a certificate."""

from typing import Any

import numpy as np
import pytest

from structsvm.exceptions import OracleError
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ROCArea
from structsvm.problem import Problem
from structsvm.problem.loops import _argmax_sweep, _line_sweep
from structsvm.problem.program import plain_function
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.training.objective import zero_weights
from tests.small_problems import ranking

ABOVE = ((0, 5), (0, 6), (1, 7), (1, 8), (1, 9))
"""The nodes of the way from the root of a tree to each of its five leaves."""

SOLVERS = [OneSlack(), OneSlack(line_search=True), NSlack(), FrankWolfe()]
each_solver = pytest.mark.parametrize("solver", SOLVERS, ids=["textbook", "line search", "n-slack", "frank-wolfe"])


class Tree(Loss[Vector, int]):
    """A leaf of a tree, by the way between two of them."""

    check_before_fit = False  # a fit alone is tested here
    factor = 1.0

    def joint_feature(self, x: Vector, y: int) -> Vector:
        return np.kron(np.isin(np.arange(10), ABOVE[y]), x)

    def loss(self, y: int, y_hat: int) -> float:
        return len(set(ABOVE[y]) ^ set(ABOVE[y_hat])) / 4

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return max(range(5), key=lambda leaf: self.factor * self.loss(y, leaf) + w @ self.joint_feature(x, leaf))

    def argmax(self, x: Vector, w: Vector) -> int:
        return max(range(5), key=lambda leaf: w @ self.joint_feature(x, leaf))


def tree(factor: float, seed: int = 0) -> Problem:
    rng = np.random.default_rng(seed)
    centers, ys = rng.standard_normal((5, 4)), rng.integers(0, 5, 40)
    xs = centers[ys] + rng.standard_normal((40, 4))
    loss = type("Wrong", (Tree,), {"factor": factor})()
    return Problem.from_examples(list(xs), ys.tolist(), loss=loss, C=1.0)


@each_solver
@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_a_loss_with_a_wrong_weight_is_no_certificate(solver: Any, factor: float) -> None:
    with pytest.raises(
        OracleError, match=r"(Wrong.* wrong output for example \d+:|lower bound) .*Run structsvm.testing.check_loss"
    ):
        solver.solve(tree(factor))


@each_solver
def test_a_right_one_is(solver: Any) -> None:
    assert solver.solve(tree(1.0)).converged


def heavy(scores, labels, params, out):  # type: ignore[no-untyped-def]
    return ROC(scores / 0.9, labels, params, out)


ROC = ROCArea.kernel


@pytest.mark.parametrize("solver", [OneSlack(), FrankWolfe()], ids=["one-slack", "frank-wolfe"])
def test_wrong_kernels_are_errors(solver: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.problem.oracle.compiled_kernel", lambda kernel: kernel)
    monkeypatch.setattr("structsvm.problem.oracle.argmax_sweep", interpreted(_argmax_sweep))
    monkeypatch.setattr("structsvm.problem.oracle.line_sweep", interpreted(_line_sweep))
    monkeypatch.setattr("structsvm.problem.sweep.CompiledOracle", type(None))
    wrong = type("Wrong", (ROCArea,), {"kernel": staticmethod(heavy)})()
    for loss, right in ((wrong, False), (ROCArea(), True)):
        problem = ranking(loss, 1, C=1.0, queries=30, documents=8)
        if right:
            assert solver.solve(problem).converged
        else:
            with pytest.raises(
                OracleError, match=r"Wrong.*( wrong output for example \d+:| misses the most) .*check_loss"
            ):
                solver.solve(problem)


def interpreted(loop: Any) -> Any:
    return lambda: lambda kernel, *arguments: loop(plain_function(kernel), *arguments)


class Blind(Tree):
    """Finds no loss at w = 0."""

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return super().loss_augmented_argmax(x, y, w) if w.any() else y


class Lossless(Tree):
    """Finds no loss anywhere."""

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return y


def test_an_argmax_that_finds_no_loss_at_w_0_is_compared_with_what_it_finds_elsewhere() -> None:
    xs, ys = list(np.random.default_rng(0).standard_normal((5, 3))), list(range(5))
    with pytest.raises(OracleError, match=r"Blind.* wrong output for example \d: an output found earlier has a larger"):
        OneSlack().solve(Problem.from_examples(xs, ys, loss=Blind(), C=1.0))
    result = OneSlack().solve(Problem.from_examples(xs, ys, loss=Lossless(), C=1.0))
    said = zero_weights(result, Lossless(), Lossless(), ranks=False)
    assert "the argmax of Lossless found no output with a loss for any example" in said
    assert said.endswith("run structsvm.testing.check_loss on the loss")
    assert "larger C" not in said
