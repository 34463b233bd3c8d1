"""The loss of clicks and of positives alone, against its definition pair by pair and by enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm import Problem
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import WeightedRanks
from tests.losses.test_kernels import assert_kernel_agrees
from tests.small_problems import score_vectors


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Vector, Vector]:
    weights = st.sampled_from([0.0, 0.0, 0.5, 1.0, 7.0])
    y = np.array(draw(st.lists(weights, min_size=2, max_size=9).filter(any)))
    return y, draw(score_vectors(len(y)))


def hinge(y: Vector, scores: Vector) -> float:
    """The hinge as it is defined."""
    pairs = np.maximum(0.0, 1.0 - (scores[:, None] - scores))
    np.fill_diagonal(pairs, 0.0)
    return float(y @ pairs.sum(axis=1) / (len(y) - 1))


@given(query=weighted())
def test_the_hinge_is_that_of_propensity_svm_rank(query: tuple[Vector, Vector]) -> None:
    y, scores = query
    loss = WeightedRanks()
    y_hat = loss.loss_augmented_argmax(scores, y)
    value = loss.loss(y, y_hat) - (loss.encode(y, y) - loss.encode(y_hat, y)) @ scores
    assert value == pytest.approx(hinge(y, scores), abs=1e-9)


@given(query=weighted())
def test_the_loss_of_a_ranking_is_the_weighted_sum_of_ranks(query: tuple[Vector, Vector]) -> None:
    y, scores = query
    ranks = np.empty(len(y))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(len(y))
    loss = WeightedRanks()
    assert loss.loss(y, loss.argmax(scores)) == pytest.approx(y @ ranks / (len(y) - 1))


def test_scores_so_large_that_1_is_lost_in_them() -> None:
    y = np.array([1.0, 0.0, 2.0, 0.0])
    for scores in (np.full(4, 1e17), 1e17 * np.arange(4.0)):
        assert_kernel_agrees(WeightedRanks(), [y], [scores])


def test_weights_below_0_are_refused_and_no_weights_too() -> None:
    X, qid = np.eye(4), np.array([0, 0, 1, 1])
    with pytest.raises(InputError, match="-1 is below 0: give 0 to documents without"):
        Problem.from_queries(X, np.array([0.0, 1.0, -1.0, 0.0]), qid, loss="weighted_ranks")
    with pytest.raises(InputError, match="none has two documents, one of them with a label above 0"):
        Problem.from_queries(X, np.zeros(4), qid, loss="weighted_ranks")
