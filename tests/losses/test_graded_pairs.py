"""Losses by the weight of a pair of grades, against their definition pair by pair, enumeration and known losses."""

from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Ranker
from structsvm.exceptions import CheckError, InputError
from structsvm.foundation.types import Vector
from structsvm.losses import GradedPairsLoss
from structsvm.testing import check_loss
from tests.campaign.users import ByDifference, Sorted
from tests.losses.test_kernels import assert_kernel_agrees
from tests.small_problems import hinge, score_vectors


@frozen
class FromTop(GradedPairsLoss):
    """Only pairs with a document of the top grade count."""

    top: float = 2.0

    def weight(self, better: Vector, worse: Vector) -> Any:
        return better >= self.top


class Alike(GradedPairsLoss):
    def weight(self, better: Vector, worse: Vector) -> float:
        return 3.0


@st.composite
def queries(draw: st.DrawFn) -> tuple[Vector, Vector]:
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 0.0, 1.0, 2.5]), min_size=2, max_size=8)))
    return y, draw(score_vectors(len(y)))


def by_definition(loss: Any, y: Vector, scores: Vector) -> float:
    """The weighted mean of the hinges of pairs."""
    pairs = [(i, j) for i in range(len(y)) for j in range(len(y)) if y[i] > y[j]]
    weights = [float(np.ravel(loss.weight(y[[i]], y[[j]]))[0]) for i, j in pairs]
    lost = [max(0.0, 1.0 - (scores[i] - scores[j])) for i, j in pairs]
    return float(np.dot(weights, lost) / sum(weights))


@pytest.mark.parametrize("loss", [ByDifference(), FromTop(), Alike(), Sorted()], ids=repr)
def test_check_loss_finds_nothing_wrong(loss: Any) -> None:
    check_loss(loss, trials=4)


@settings(max_examples=60)
@given(query=queries())
def test_the_hinge_is_a_weighted_mean_over_pairs(query: tuple[Vector, Vector]) -> None:
    y, scores = query
    for loss in (ByDifference(), FromTop(), Alike()):
        if loss.usable(y):
            [value], _ = hinge(loss, scores, y, np.zeros(len(y)))
            assert value == pytest.approx(by_definition(loss, y, scores), abs=1e-9)
            assert_kernel_agrees(loss, [y], [scores])


def test_queries_without_a_weighted_pair_are_left_out() -> None:
    X, qid = np.arange(12.0).reshape(6, 2), [0, 0, 1, 1, 2, 2]
    ranker = Ranker(FromTop()).fit(X, [2, 0, 1, 0, 1, 1], qid)
    assert (ranker.n_examples_, ranker.n_left_out_) == (1, 2)
    with pytest.raises(InputError, match="in each, all documents have the same label"):
        Ranker(FromTop()).fit(X, [1, 1, 0, 0, 5, 5], qid)
    with pytest.raises(InputError, match=r"FromTop.weight is 0 for each pair"):
        Ranker(FromTop()).fit(X, [1, 0, 0, 1, 1, 0], qid)


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (lambda better, worse: worse - better, "returned -1 for a better document of label 1 and a worse one of lab"),
        (lambda better, worse: np.log(worse), "returned -inf for a better document of label 1 and a worse one of lab"),
        (lambda better, worse: np.ones(7), r"returned an array of shape \(7,\) for 1 pairs: it must return one number"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_invalid_weights_are_errors(returned: Any, said: str) -> None:
    class Wrong(GradedPairsLoss):
        def weight(self, better: Vector, worse: Vector) -> Any:
            return returned(better, worse)

    with pytest.raises(InputError, match=f"Wrong.weight {said}"):
        Ranker(Wrong()).fit(np.eye(2), [1.0, 0.0], [0, 0])


def test_weights_that_are_all_0_are_named() -> None:
    class Nothing(GradedPairsLoss):
        def weight(self, better: Vector, worse: Vector) -> float:
            return 0.0

    said = "Nothing.weight is 0 for each pair of their documents with different labels"
    with pytest.raises(InputError, match=f"any of the 1 queries: {said}"):
        Ranker(Nothing()).fit(np.eye(2), [1.0, 0.0], [0, 0])
    with pytest.raises(InputError, match=f"Nothing cannot learn from any of the [0-9]+ examples: {said}"):
        check_loss(Nothing())


def test_a_shift_too_large_is_found() -> None:
    class Shifted(Sorted):
        def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
            return scores - 1.1 * y

    with pytest.raises(CheckError, match=r"Shifted.loss_augmented_argmax does not return a maximizer"):
        check_loss(Shifted())


@pytest.mark.parametrize(
    ("at_3", "words"),
    [
        (lambda: np.nan, "Mine.weight returned nan for a better document of label 3"),
        (lambda: -1.0, "Mine.weight returned -1 for a better document of label 3"),
        (
            lambda: {}[3],
            "Mine.weight raised KeyError: 3. .* labels 0, .*3.*with such labels. Run .*check_loss on the loss",
        ),
    ],
)
def test_a_weight_that_is_wrong_at_one_grade_is_found_and_named(at_3: Any, words: str) -> None:
    class Mine(GradedPairsLoss):
        def weight(self, better: Vector, worse: Vector) -> Vector:
            return np.array([at_3() if grade == 3 else 1.0 for grade in better])

    with pytest.raises(CheckError, match=words):
        check_loss(Mine(), trials=0)
    with pytest.raises(InputError, match=f"^{words}"):
        Mine().usable(np.array([0.0, 3.0]))
