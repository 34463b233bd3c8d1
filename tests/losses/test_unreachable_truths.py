"""True outputs that the argmax cannot return: declared ones are candidates of the hinge, others are errors."""

from typing import Any

import cvxopt
import numpy as np
import pytest

from structsvm import Problem, StructuralSVM, most_violated
from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import CheckError, InputError, OracleError
from structsvm.foundation.types import Vector
from structsvm.losses import LatentLoss, SlackRescaled
from structsvm.objectives import Hinge
from structsvm.problem import ramp
from structsvm.solvers import Auto, FrankWolfe, NSlack, OneSlack
from structsvm.testing import check_latent_loss, check_loss
from tests.small_problems import BoundedTwoRows, GenericTwoRows, PlainTwoRows, TwoRows

KINDS = [TwoRows, PlainTwoRows, GenericTwoRows, BoundedTwoRows]
SOLVERS = [
    OneSlack(tol=1e-6, line_search=True),
    OneSlack(tol=1e-6),
    NSlack(tol=1e-6),
    FrankWolfe(tol=1e-6),
    Auto(tol=1e-6),
]


def data(seed: int) -> tuple[list[Any], list[Any]]:
    """Return examples of four rows, of which none to four are marked."""
    rng = np.random.default_rng(seed)
    return list(rng.standard_normal((5, 4, 2))), list(rng.integers(0, 2, (5, 4)).astype(np.float64))


def optimum(xs: list[Any], ys: list[Any], C: float, *, slack: bool = False) -> float:
    """Return the optimum of the problem with all outputs and the true output of each example."""
    n, rows, limits = len(xs), [], []
    for i, (x, y) in enumerate(zip(xs, ys, strict=True)):
        for output in [*PlainTwoRows().outputs(y), y]:
            delta = float(np.mean(output != y))
            rows.append(np.concatenate([-(delta if slack else 1.0) * (x.T @ (y - output)), -np.eye(n)[i]]))
            limits.append(-delta)
    P, q = np.diag([1.0, 1.0, *np.zeros(n)]), np.array([0.0, 0.0, *np.full(n, C / n)])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    return float(
        cvxopt.solvers.qp(*map(cvxopt.matrix, (P, q, np.array(rows), np.array(limits))), options=options)[
            "primal objective"
        ]
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("slack", [False, True], ids=["margin", "slack"])
def test_the_optimum_is_that_of_outputs_and_truths(kind: Any, slack: bool) -> None:
    if slack and kind in (TwoRows, BoundedTwoRows):
        pytest.skip("slack rescaling has no kernel and needs an exact argmax")
    for seed, C in enumerate([0.1, 10.0, 300.0]):
        xs, ys = data(seed)
        expected = optimum(xs, ys, C, slack=slack)
        problem = Problem.from_examples(xs, ys, loss=SlackRescaled(kind()) if slack else kind(), C=C)
        for solver in SOLVERS:
            result = solver.solve(problem)
            assert result.certified
            assert result.dual <= expected + 1e-7 * (1.0 + expected)
            assert result.primal >= expected - 1e-7 * (1.0 + expected)
            assert result.primal - result.inference_gap <= expected + 2e-6 * C or kind is BoundedTwoRows
            assert 0.0 <= result.inference_gap <= max(result.gap, 0.0)


@pytest.mark.parametrize("kind", [TwoRows, PlainTwoRows])
def test_hinges_are_never_negative(kind: Any) -> None:
    y, scores = np.array([1.0, 1.0, 1.0, 0.0]), np.array([9.0, 8.0, 7.0, 0.0])
    function = Hinge.of_outputs(kind(), [y], 4)
    values, gradient = function(scores)
    assert values.tolist() == [0.0]
    assert not gradient.any()
    assert function.most_violated(scores)[0].tolist() == y.tolist()
    assert function(-scores)[0] == pytest.approx(0.75 + 24.0 - 7.0)


def test_the_most_violated_output_may_be_the_truth() -> None:
    x, y = np.diag([9.0, 8.0, 7.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])
    result = most_violated(x, y, np.ones(4), loss=TwoRows())
    assert (result.output.tolist(), result.loss, result.hinge) == (y.tolist(), 0.0, 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_check_loss_accepts_declared_truths(kind: Any) -> None:
    xs, ys = data(0)
    check_loss(kind(), list(zip(xs, ys, strict=True)) if kind is GenericTwoRows else ys, trials=4)


def undeclared(kind: Any, **settings: Any) -> Any:
    return type("Undeclared", (kind,), {"unreachable_truths": False, **settings})()


MESSAGE = "the true output of {} cannot be returned by the argmax of Undeclared.*set unreachable_truths = True"


@pytest.mark.parametrize("kind", KINDS)
def test_other_truths_are_errors_that_name_them(kind: Any) -> None:
    y = [np.array([1.0, 1.0, 0.0, 0.0])] * 3 + [np.array([1.0, 1.0, 1.0, 0.0])]
    xs = [2.0 * np.diag(each) for each in y]
    with pytest.raises(CheckError, match=f"(?s){MESSAGE.format('example 3')}"):
        StructuralSVM(undeclared(kind), C=100.0).fit(xs, y)
    # The weights that separate example 0 favor the true output of example 1.
    with pytest.raises(OracleError, match=MESSAGE.format("example 1")):
        StructuralSVM(undeclared(kind, check_before_fit=False), C=1e3).fit([0.1 * y[0][:, None], y[3][:, None]], y[2:])
    listed = "gives the true output a value .* set unreachable_truths = True"
    with pytest.raises(CheckError, match=listed):
        check_loss(undeclared(kind), [(xs[3], y[3])] if kind is GenericTwoRows else [y[3]])


@pytest.mark.parametrize("kind", KINDS)
def test_a_passed_check_does_not_cover_truths_of_other_data(kind: Any) -> None:
    loss = undeclared(kind)
    y = [np.array([1.0, 1.0, 0.0, 0.0]), np.array([1.0, 1.0, 1.0, 0.0])]
    xs = [2.0 * np.diag(each) for each in y]
    StructuralSVM(loss).fit(xs[:1] * 3, y[:1] * 3)
    with pytest.raises(CheckError, match=f"(?s){MESSAGE.format('example 0')}"):
        StructuralSVM(loss).fit(xs[1:], y[1:])


def test_a_wrong_argmax_is_no_unreachable_truth() -> None:
    class First(PlainTwoRows):
        check_before_fit = False
        unreachable_truths = False

        def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
            return np.array([1.0, 1.0, 0.0, 0.0])

    xs, _ = data(0)
    with pytest.raises(OracleError, match="First.loss_augmented_argmax returned a wrong output for example"):
        StructuralSVM(First(), C=100.0).fit(xs, [np.array([1.0, 0.0, 1.0, 0.0])] * 5)


def test_ramps_refuse_them() -> None:
    xs, ys = data(0)
    with pytest.raises(InputError, match="PlainTwoRows has unreachable_truths = True"):
        ramp(Problem.from_examples(xs, ys, loss=PlainTwoRows()))


class Larger(LatentLoss[Vector, int, int]):
    """The argmaxes return 0 and 1, the truth may be 2; the latent is a row."""

    unreachable_truths = True

    def joint_feature(self, x: Vector, y: int, h: int) -> Vector:
        return y * x[h]

    def loss(self, y: int, y_hat: int, h_hat: int) -> float:
        return float(abs(y - y_hat))

    def initial(self, x: Vector, y: int) -> int:
        return 0

    def complete(self, x: Vector, y: int, w: Vector) -> int:
        return max(range(len(x)), key=lambda h: y * (w @ x[h]))

    def argmax(self, x: Vector, w: Vector) -> tuple[int, int]:
        return max(self.outputs(x, 0), key=lambda o: o[0] * (w @ x[o[1]]))

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> tuple[int, int]:
        return max(self.outputs(x, y), key=lambda o: abs(y - o[0]) + o[0] * (w @ x[o[1]]))

    def outputs(self, x: Vector, y: int) -> list[tuple[int, int]]:
        return [(y_hat, h) for y_hat in (0, 1) for h in range(len(x))]

    def completions(self, x: Vector, y: int) -> range:
        return range(len(x))


def test_latent_truths_are_candidates_with_all_latents() -> None:
    rng, loss, C = np.random.default_rng(0), Larger(), 20.0
    xs, ys = list(rng.standard_normal((6, 3, 2))), [0, 1, 2, 2, 1, 2]
    check_latent_loss(loss, list(zip(xs, ys, strict=True)), trials=3)
    svm = LatentStructuralSVM(loss, C=C, tol=1e-7).fit(xs, ys)
    w, total = svm.coef_, 0.0
    for x, y in zip(xs, ys, strict=True):
        truth = max(y * (w @ x[h]) for h in range(3))
        best = max(abs(y - o) + o * (w @ x[h]) for o, h in loss.outputs(x, y))
        total += max(truth, best) - truth
    assert svm.objective_ == pytest.approx(0.5 * w @ w + C / 6 * total, abs=1e-5)
