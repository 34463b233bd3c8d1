"""Precision and recall at k: as average precision, and truncated, against all ways to interleave both kinds."""

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Problem, Ranker
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import AveragePrecision, NDCGLoss, PrecisionAtK, RecallAtK
from structsvm.losses.ndcg import PairwiseNDCG
from structsvm.metrics import P
from structsvm.problem.oracle import make_oracle
from structsvm.testing import check_loss
from tests.small_problems import ranking_arrays, relevances, score_vectors

each_kind = pytest.mark.parametrize("kind", [PrecisionAtK, RecallAtK])


def best_value(loss: Any, scores: Vector, y: Vector) -> float:
    """Largest ``Δ + scores·c(ŷ)`` over every choice of places for the relevant documents, pair by pair.

    Each kind is in descending order of score; that this loses nothing is checked over all rankings by `check_loss`.
    """
    relevant, other = (np.sort(scores[kind])[::-1] for kind in (y > 0, ~(y > 0)))
    R, N = len(relevant), len(other)
    best = -np.inf
    for places in combinations(range(R + N), R):
        free = [place for place in range(R + N) if place not in places]
        pairs = sum(
            (1 if i < j else -1) * (s - t)
            for i, s in zip(places, relevant, strict=True)
            for j, t in zip(free, other, strict=True)
        )
        missed = min(loss.k, R) - sum(place < loss.k for place in places)
        cost = 1 / loss.k if isinstance(loss, PrecisionAtK) else 1 / R
        best = max(best, cost * missed + pairs / (R * N))
    return best


@each_kind
@settings(max_examples=40)
@given(data=st.data(), y=relevances(6, 8), k=st.integers(1, 9))
def test_both_argmaxes_reach_the_maximum_over_interleavings(kind: Any, data: Any, y: Vector, k: int) -> None:
    loss, scores = kind(k, truncated=True), data.draw(score_vectors(len(y)))
    expected = best_value(loss, scores, y)
    y_hat = loss.loss_augmented_argmax(scores, y)
    assert loss.loss(y, y_hat) + loss.encode(y_hat, y) @ scores == pytest.approx(expected, abs=1e-9)
    planes = make_oracle(loss, [y]).planes(scores, np.array([0, len(y)]), np.ones(1))
    own = loss.encode(y, y) @ scores
    assert planes.loss[0] - planes.coef @ scores + own == pytest.approx(expected, abs=1e-9)


@given(data=st.data(), y=relevances(2, 8), k=st.integers(1, 9))
def test_the_loss_is_what_the_best_precision_exceeds_that_of_the_output_by(data: Any, y: Vector, k: int) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    best, got = (P(k).mean(scores, y, ties="input") for scores in (y, y_hat))
    R = int((y > 0).sum())
    assert PrecisionAtK(k, truncated=True).loss(y, y_hat) == pytest.approx(best - got)
    assert RecallAtK(k, truncated=True).loss(y, y_hat) == pytest.approx(k / R * (best - got))


@each_kind
def test_a_query_of_at_most_k_documents_has_no_margin(kind: Any) -> None:
    y = np.array([1.0, 0.0, 0.0])
    planes = make_oracle(kind(3, truncated=True), [y, y]).planes(
        np.array([0.1, 0, 0, 0, 0.5, 0]), np.array([0, 3, 6]), np.ones(2)
    )
    np.testing.assert_allclose(planes.loss, 0.0)
    hinges = [0.0, 2 / 2 * 0.5]  # one pair of two is in the wrong order, by 0.5
    np.testing.assert_allclose([-planes.coef[:3] @ [0.1, 0, 0], -planes.coef[3:] @ [0, 0.5, 0]], hinges)
    assert kind(3, truncated=True).usable(y)


@each_kind
@pytest.mark.parametrize("y", [np.zeros(3), np.ones(3), np.ones(1)])
def test_without_both_kinds_there_is_no_loss(kind: Any, y: Vector) -> None:
    loss = kind(2, truncated=True)
    assert not loss.usable(y)
    assert loss.loss(y, np.arange(len(y), dtype=float)) == 0.0
    out = np.full(len(y), 7.0)
    assert make_oracle(loss, [y]).planes(out, np.array([0, len(y)]), np.ones(1)).loss[0] == 0.0


@each_kind
@pytest.mark.parametrize("k", [0, -1, 2.0, "5", True, None])
def test_k_is_a_positive_integer(kind: Any, k: Any) -> None:
    with pytest.raises(InputError, match=rf"{kind.__name__}\(k=...\) must be an integer of at least 1, got"):
        kind(k)


@pytest.mark.parametrize("k", [2**31, 2**63 - 1])
@pytest.mark.parametrize(
    "make",
    [*(partial(each, truncated=True) for each in (PrecisionAtK, RecallAtK, NDCGLoss)), PairwiseNDCG],
    ids=["precision", "recall", "ndcg", "pairwise"],
)
def test_the_largest_cutoffs_cut_nothing(make: Any, k: int) -> None:
    X, y, qid = ranking_arrays(0)
    assert make(k).k == k
    huge, documents = (Ranker(make(cutoff)).fit(X, y, qid=qid) for cutoff in (k, len(y)))
    np.testing.assert_array_equal(huge.coef_, documents.coef_)
    assert make(k).loss(y, -y) == make(len(y)).loss(y, -y)
    check_loss(make(k), [np.array(y) for y in ([1.0, 0.0, 1.0], [2.0, 0.0, 1.0, 0.0])], trials=2)


@each_kind
def test_unless_truncated_the_loss_is_average_precision(kind: Any) -> None:
    X, y, qid = ranking_arrays(0)
    loss = kind(2, relevant_from=0.5)
    assert loss.bind([y]) == AveragePrecision(relevant_from=0.5)
    check_loss(loss, [np.array([1.0, 0.0, 0.5])], trials=1)
    ranker, other = (Ranker(each, C=10.0).fit(X, y, qid) for each in (loss, AveragePrecision(relevant_from=0.5)))
    assert ranker.loss_ == other.loss_
    np.testing.assert_array_equal(ranker.coef_, other.coef_)
    assert (ranker.result_.primal, ranker.result_.dual) == (other.result_.primal, other.result_.dual)
    assert Problem.from_queries(X, y, qid, loss=loss).loss == AveragePrecision(relevant_from=0.5)
