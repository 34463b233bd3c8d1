"""The losses of the ranking SVM, against their definitions pair by pair and by enumeration."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import JudgedPairs, PreferencePairs, SwappedPairs
from structsvm.problem import most_violated
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.testing import check_loss
from tests.losses.exhaustive import exhaustive_objective
from tests.losses.test_kernels import assert_kernel_agrees
from tests.small_problems import graded_arrays, score_vectors

SOLVERS = [OneSlack(tol=1e-6), NSlack(tol=1e-6), FrankWolfe(tol=1e-6)]
JUDGED = [
    JudgedPairs(3, [0, 2], [1, 1], [1.0, 2.0]),
    JudgedPairs(4, [0, 1, 0, 3], [1, 0, 2, 2], [1.0, 0.5, 2.0, 1.0]),  # pairs 0 and 1 contradict each other
    JudgedPairs(3, [0, 0, 1, 0], [1, 1, 2, 2], [1.0, 3.0, 1.0, 0.25]),  # pair 0 twice
    JudgedPairs(2, [1], [0], [3.0]),
]


def grades(smallest: int = 2, largest: int = 7, kinds: int = 4) -> st.SearchStrategy[Vector]:
    labels = st.lists(st.integers(0, kinds - 1), min_size=smallest, max_size=largest)
    return labels.filter(lambda y: len(set(y)) > 1).map(lambda y: np.array(y) - 1.5)


@st.composite
def graded_queries(draw: st.DrawFn) -> tuple[Vector, Vector]:
    y = draw(grades())
    return y, draw(score_vectors(len(y)))


@st.composite
def judged_queries(draw: st.DrawFn) -> tuple[JudgedPairs, Vector]:
    documents = draw(st.integers(2, 6))
    pair = st.tuples(*[st.integers(0, documents - 1)] * 2).filter(lambda each: each[0] != each[1])
    pairs = np.array(draw(st.lists(pair, min_size=1, max_size=8)))
    magnitude = draw(st.lists(st.floats(0.125, 8.0), min_size=len(pairs), max_size=len(pairs)))
    return JudgedPairs(documents, pairs[:, 0], pairs[:, 1], magnitude), draw(score_vectors(documents))


def listed(y: Vector) -> JudgedPairs:
    """All pairs of different grades."""
    better, worse = np.nonzero(y[:, None] > y)
    return JudgedPairs(len(y), better, worse, np.ones(len(better)))


def hinge(pairs: JudgedPairs, scores: Vector) -> float:
    """The mean hinge of the pairs as it is defined."""
    lost = np.maximum(0.0, 1.0 - (scores[pairs.better] - scores[pairs.worse]))
    return float(pairs.magnitude @ lost / pairs.magnitude.sum())


def value(loss: Any, y: Any, scores: Vector) -> float:
    """The hinge by the Python methods of a loss."""
    y_hat = loss.loss_augmented_argmax(scores, y)
    return float(loss.loss(y, y_hat) - (loss.encode(y, y) - loss.encode(y_hat, y)) @ scores)


@settings(max_examples=15)
@given(query=judged_queries(), seed=st.integers(0, 1000))
def test_check_loss_finds_nothing_wrong_with_any_judged_pairs(query: Any, seed: int) -> None:
    check_loss(PreferencePairs(), [query[0]], trials=2, random_state=seed)


@given(query=graded_queries())
def test_the_hinge_of_grades_is_a_mean_over_pairs(query: tuple[Vector, Vector]) -> None:
    y, scores = query
    assert value(SwappedPairs(), y, scores) == pytest.approx(hinge(listed(y), scores), abs=1e-9)


@given(query=judged_queries())
def test_the_hinge_of_judged_pairs_is_a_weighted_mean(query: tuple[JudgedPairs, Vector]) -> None:
    y, scores = query
    assert value(PreferencePairs(), y, scores) == pytest.approx(hinge(y, scores), abs=1e-9)


@given(query=graded_queries())
def test_the_loss_of_a_ranking_is_its_share_of_swapped_pairs(query: tuple[Vector, Vector]) -> None:
    y, scores = query
    n = len(y)
    pairs = [(i, j) for i in range(n) for j in range(n) if y[i] > y[j]]
    swapped = sum((scores[i], -i) < (scores[j], -j) for i, j in pairs)
    assert SwappedPairs().loss(y, scores) == pytest.approx(swapped / len(pairs))
    assert SwappedPairs().number_of_pairs(y) == len(pairs)


@given(queries=st.lists(judged_queries(), min_size=1, max_size=4))
def test_the_kernel_of_judged_pairs_agrees(queries: list[tuple[JudgedPairs, Vector]]) -> None:
    assert_kernel_agrees(PreferencePairs(), [y for y, _ in queries], [scores for _, scores in queries])


def test_two_grades_are_trained_as_the_roc_area_at_a_quarter_of_C() -> None:
    """½‖v‖² + 4C hinge(v) with v = 2w is 4 (½‖w‖² + C hinge of the ROC area at w)."""
    X, y, qid = graded_arrays(0)
    y = (y > 0).astype(np.float64)
    pairs = Ranker("swapped_pairs", C=4 * 0.7, tol=1e-8).fit(X, y, qid)
    area = Ranker("roc_area", C=0.7, tol=1e-8).fit(X, y, qid)
    np.testing.assert_allclose(pairs.coef_, 2 * area.coef_, atol=1e-3)
    assert pairs.result_.primal == pytest.approx(4 * area.result_.primal, rel=1e-6)


@pytest.mark.parametrize("C", [0.3, 30.0])
def test_judged_pairs_reach_the_optimum(C: float) -> None:
    rng = np.random.default_rng(2)
    xs = [rng.standard_normal((pairs.documents, 3)) for pairs in JUDGED]
    optimum = exhaustive_objective(PreferencePairs(), list(zip(xs, JUDGED, strict=True)), C)
    problem = Problem.from_examples(xs, JUDGED, loss=PreferencePairs(), C=C)
    for solver in SOLVERS:
        result = solver.solve(problem)
        assert result.converged
        assert result.primal == pytest.approx(optimum, rel=1e-7, abs=1.5e-6 * C)


def test_an_output_need_not_be_a_ranking() -> None:
    """Grade 1 is ahead of 2 and 0 of 1, but 2 stays ahead of 0."""
    y, scores = np.array([2.0, 1.0, 0.0]), np.array([1.2, 0.6, 0.0])
    shown = most_violated(np.eye(3), y, scores, loss=SwappedPairs())
    assert (3 * shown.output).tolist() == [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    assert shown.loss == pytest.approx(2 / 3)
    assert shown.hinge == pytest.approx((0.4 + 0.4) / 3)


def test_queries_of_one_grade_are_left_out() -> None:
    X, qid = np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2]
    ranker = Ranker("swapped_pairs").fit(X, [1, 1, 0, 3, -1, 0], qid)
    assert (ranker.n_examples_, ranker.n_left_out_) == (2, 1)
    with pytest.raises(InputError, match="any of the 3 queries: in each, all documents have the same label"):
        Ranker("swapped_pairs").fit(X, [1, 1, 0, 0, 5, 5], qid)
    assert not SwappedPairs().usable(np.zeros(0))
    assert not PreferencePairs().usable(JudgedPairs(3, [], [], []))


def test_a_loss_with_its_own_idea_of_usable_is_not_told_of_labels() -> None:
    class Picky(SwappedPairs):
        def usable(self, y: Vector) -> bool:
            return False

    with pytest.raises(InputError, match=r"Picky.usable\(y\) is false"):
        Ranker(Picky()).fit(np.eye(2), [0, 1])


def test_judged_pairs_are_an_output_for_structural_svm() -> None:
    rng = np.random.default_rng(4)
    xs = [rng.standard_normal((pairs.documents, 2)) for pairs in JUDGED]
    svm = StructuralSVM(PreferencePairs(), C=1.0).fit(xs, JUDGED)
    assert svm.predict(xs)[0].shape == (3,)


@pytest.mark.parametrize(
    ("better", "worse", "magnitude", "message"),
    [
        ([0], [1, 2], [1.0], r"vectors of equal length, got shapes \(1,\), \(2,\) and \(1,\)"),
        ([0], [3], [1.0], r"pair 0 \(0, 3, 1\) must join two different documents from 0 to 2"),
        ([0, 1], [1, -1], [1.0, 1.0], r"pair 1 \(1, -1, 1\)"),
        ([2], [2], [1.0], r"pair 0 \(2, 2, 1\)"),
        ([0], [1], [0.0], r"pair 0 \(0, 1, 0\) .* positive finite magnitude"),
        ([0], [1], [np.inf], "positive finite magnitude"),
        ([0.5], [1], [1.0], "integers from 0; they are float64"),
        (["a"], [1], [1.0], "document numbers, integers from 0"),
        ([0], [1], ["much"], "magnitudes must be numbers"),
        ([0], [1], [1j], "magnitudes must have real numbers"),
    ],
)
def test_invalid_pairs_are_errors(better: Any, worse: Any, magnitude: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        JudgedPairs(3, better, worse, magnitude)


@pytest.mark.slow
def test_the_outputs_of_many_pairs_are_not_listed_at_once() -> None:
    with pytest.warns(UserWarning, match="1 of 1 examples of SwappedPairs have more than"):
        check_loss(SwappedPairs(), [np.arange(12.0)])
    with pytest.warns(UserWarning, match="1 of 1 examples of PreferencePairs have more than"):
        check_loss(PreferencePairs(), [listed(np.arange(12.0))])


def test_labels_instead_of_judged_pairs_are_errors() -> None:
    with pytest.raises(InputError, match=r"PreferencePairs learns from one JudgedPairs .* Labels are for SwappedPairs"):
        Ranker(PreferencePairs()).fit(np.eye(3), [0.0, 1.0, 0.0])


def test_judged_pairs_are_values() -> None:
    assert JudgedPairs(2, [0], [1], [1.0]) == JudgedPairs(2, np.array([0]), [1], [1])
    assert JudgedPairs(2, [0], [1], [1.0]) != JudgedPairs(2, [1], [0], [1.0])
