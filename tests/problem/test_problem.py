"""The interface of problems for solvers: bounds, planes, cuts and blocks, against the definitions."""

from typing import Any

import joblib
import numpy as np
import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.exceptions import InputError, OracleError
from structsvm.features.operators.base import scores_of_examples
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, ROCArea
from structsvm.problem import Problem
from structsvm.problem.points import Planes
from structsvm.solvers import OneSlack
from tests.small_problems import KINDS, PlainROCArea, listed, ranking, small_problem

each_kind = pytest.mark.parametrize("kind", KINDS)
seeds = st.integers(0, 50)


def weights_of(problem: Problem, seed: int, size: float = 1.0) -> Vector:
    return size * np.random.default_rng(seed + 1).standard_normal(problem.d)


@each_kind
@settings(max_examples=25)
@given(seed=seeds, size=st.sampled_from([0.0, 0.1, 3.0]), weighted=st.booleans())
def test_primal_is_the_objective_by_enumeration(kind: str, seed: int, size: float, weighted: bool) -> None:
    problem = small_problem(kind, seed, C=2.5, weighted=weighted)
    w = weights_of(problem, seed, size)
    point = problem.at(w)
    planes = problem.planes(point)
    truth = listed(problem)
    assert problem.primal(planes, point) == pytest.approx(truth.primal(w), rel=1e-12)
    hinges = np.where(problem.cap > 0.0, truth.hinges(w), 0.0)  # no argmax is sought without weight
    np.testing.assert_allclose(problem.violation(planes, point), hinges, atol=1e-9)


@each_kind
@settings(max_examples=25)
@given(seed=seeds, other=seeds)
def test_planes_and_cuts_bound_the_hinge_from_below_anywhere(kind: str, seed: int, other: int) -> None:
    problem = small_problem(kind, seed, weighted=True)
    planes = problem.planes(problem.at(weights_of(problem, seed)))
    w = weights_of(problem, other, 2.0)
    point, hinges = problem.at(w), listed(problem).hinges(w)
    assert (problem.violation(planes, point) <= hinges + 1e-9).all()
    cut = problem.cut(planes)
    assert cut.L - cut.g @ w == pytest.approx(np.average(problem.violation(planes, point), weights=problem.cap))
    which = np.arange(problem.n) % 2 == 0
    cuts = problem.cuts(planes, which)
    np.testing.assert_array_equal(cuts.example, np.flatnonzero(which))
    np.testing.assert_allclose(cuts.L - cuts.G @ w, problem.violation(planes, point)[which], atol=1e-9)


@each_kind
@given(seed=seeds, data=st.data())
def test_a_block_agrees_with_the_whole(kind: str, seed: int, data: st.DataObject) -> None:
    problem = small_problem(kind, seed, weighted=True)
    start = data.draw(st.integers(0, problem.n - 1))
    stop = data.draw(st.integers(start + 1, problem.n))
    block, w = problem.block(start, stop), weights_of(problem, seed)
    whole_point, part_point = problem.at(w), block.at(w)
    whole, part = problem.planes(whole_point), block.planes(part_point)
    rows, ptr = slice(problem.ptr[start], problem.ptr[stop]), problem.ptr
    np.testing.assert_allclose(part_point.scores, scores_of_examples(whole_point.scores, ptr, start, stop), atol=1e-12)
    np.testing.assert_allclose(part.coef, whole.coef[rows], atol=1e-12)
    if whole.shared is not None:
        np.testing.assert_allclose(part.shared.toarray(), whole.shared[start:stop].toarray(), atol=1e-12)
    np.testing.assert_array_equal(part.loss, whole.loss[start:stop])
    np.testing.assert_array_equal(block.cap, problem.cap[start:stop])
    assert (block.C, block.n, block.d) == (problem.C, stop - start, problem.d)


@given(seed=seeds, t=st.floats(-2, 2))
def test_points_move_along_lines(seed: int, t: float) -> None:
    problem = small_problem("map", seed)
    start, end = problem.at(weights_of(problem, 1)), problem.at(weights_of(problem, 2))
    moved = start.toward(end, t)
    np.testing.assert_allclose(moved.scores, problem.at(moved.w).scores, atol=1e-12)
    np.testing.assert_allclose(moved.w, (1 - t) * start.w + t * end.w)


class Broken(PlainROCArea):
    """A loss whose parts are replaced one by one."""

    check_before_fit = False

    def __init__(self, **methods: Any) -> None:
        self.__dict__.update(methods)


def planes_of(loss: Any) -> Planes:
    problem = ranking(loss, seed=0)
    point = problem.at(np.array([4.0, -4.0, 2.0]))
    planes = problem.planes(point)
    problem.primal(planes, point)
    return planes


@pytest.mark.parametrize("bad", [-0.1, np.nan])
def test_a_loss_that_is_no_loss_is_named(bad: float) -> None:
    with pytest.raises(
        OracleError, match=f"Broken returned a loss of {bad} for example 0; a loss must be finite and at"
    ):
        planes_of(Broken(loss=lambda y, y_hat: 0.0 if np.array_equal(y, y_hat) else bad))


def test_an_output_worse_than_the_truth_is_named() -> None:
    with pytest.raises(
        OracleError,
        match=r"Broken.loss_augmented_argmax .* wrong output for example \d: its Δ \+ w·Ψ is .* below that of the true",
    ):
        planes_of(Broken(loss_augmented_argmax=lambda scores, y: -scores))


def test_an_encoding_of_nan_is_refused() -> None:
    with pytest.raises(OracleError, match="Broken: the encoding .* example 0 contains NaN"):
        planes_of(Broken(encode=lambda y_hat, y: np.full(len(y), np.nan)))


def silent(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = np.nan
    return 0.0


def test_a_kernel_that_writes_nan_is_refused() -> None:
    mutant = type("Mutant", (ROCArea,), {"kernel": staticmethod(silent), "check_before_fit": False})
    with pytest.raises(OracleError, match="A kernel must write every element of out"):
        planes_of(mutant())


def test_an_encoding_of_the_wrong_shape_is_named() -> None:
    with pytest.raises(InputError, match=r"Broken.encode returned shape \(3,\), but the example has 4 scores"):
        planes_of(Broken(encode=lambda y_hat, y: np.zeros(3)))


def test_a_loss_may_return_lists() -> None:
    right = PlainROCArea()
    lists = planes_of(Broken(encode=lambda y_hat, y: right.encode(y_hat, y).tolist()))
    np.testing.assert_array_equal(lists.coef, planes_of(right).coef)


def test_a_loss_cannot_change_the_scores() -> None:
    def scribble(scores: Vector, y: Vector) -> Vector:
        scores[0] = 100.0
        return scores

    with pytest.raises(ValueError, match="read-only"):
        planes_of(Broken(loss_augmented_argmax=scribble))


def test_labels_and_params_of_a_kernel_may_be_integers() -> None:
    class Integers(AveragePrecision):
        def labels(self, y: Vector) -> Any:
            return self.relevant(y).astype(np.int32)

    np.testing.assert_array_equal(planes_of(Integers()).coef, planes_of(AveragePrecision()).coef)


def test_a_loss_in_python_is_spread_over_processes() -> None:
    problem = small_problem("plain")
    point = problem.at(weights_of(problem, 0))
    alone = problem.planes(point)
    with joblib.parallel_config(n_jobs=2):
        together = problem.planes(point)
    np.testing.assert_array_equal(together.coef, alone.coef)
    np.testing.assert_array_equal(together.loss, alone.loss)


def test_outputs_that_do_not_fit_their_inputs_are_named() -> None:
    xs = [np.ones((4, 2)), np.ones((3, 2))]
    with pytest.raises(InputError, match="example 1 has 3 rows and 2 labels"):
        Problem.from_examples(xs, [np.array([1.0, 0, 0, 0]), np.array([1.0, 0.0])], loss="map")


def test_examples_that_cannot_be_learned_from_are_left_out() -> None:
    qid = np.repeat(np.arange(200), 3)
    X, y = np.random.default_rng(0).standard_normal((600, 4)), np.tile([1.0, 0.0, 0.0], 200)
    y = np.where(qid < 50, 0.0, y)
    queries = Problem.from_queries(X, y, qid, loss="map")
    by_query = [qid == q for q in range(200)]
    examples = Problem.from_examples([X[q] for q in by_query], [y[q] for q in by_query], loss="map")
    assert (examples.used, examples.left_out) == (queries.used, queries.left_out) == (150, 50)
    np.testing.assert_array_equal(examples.cap, queries.cap)
    with pytest.raises(InputError, match="AveragePrecision cannot learn from any of the 1 examples"):
        Problem.from_examples([X[:3]], [np.zeros(3)], loss="map")


def test_a_part_of_a_sealed_problem_has_no_seal() -> None:
    """Its data are others."""
    problem = evolve(small_problem("map"), known_fingerprint=np.ones(3))
    assert problem.with_C(7.0).known_fingerprint is problem.known_fingerprint
    assert problem.block(0, 1).known_fingerprint is None


@pytest.mark.parametrize(("largest", "fine"), [(1e149, True), (1e151, False), (1e291, False), (1e307, False)])
def test_scores_whose_sums_may_overflow_are_refused(largest: float, fine: bool) -> None:
    """Finite scores of this size have made a wrong argmax."""
    X = np.ones((12, 2))
    X[7, 1] = -largest
    problem = Problem.from_queries(X, np.tile([1.0, 0.0, 0.0], 4), np.repeat(np.arange(4), 3), loss="map")
    if fine:
        problem.at(np.ones(2))
        return
    told = rf"example 2 has features .*too large.*of its scores is -1e\+{int(np.log10(largest))}, .* 1e\+150.*Scaler"
    with pytest.raises(InputError, match=told):
        problem.at(np.ones(2))
    with pytest.raises(InputError, match="too large"):
        OneSlack().solve(problem)


def test_a_block_of_examples_without_weight_has_a_cut_that_asks_for_nothing() -> None:
    X, y, qid = np.arange(4.0)[:, None], np.array([0, 1, 1, 0]), np.array([1, 1, 2, 2])
    problem = Problem.from_queries(X, y, qid, loss="map", sample_weight=[0.0, 0.0, 1.0, 1.0])
    block = problem.block(0, 1)
    cut = block.cut(block.planes(block.origin()))
    assert (cut.g.tolist(), cut.L) == ([0.0], 0.0)
