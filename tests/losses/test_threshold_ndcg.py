"""NDCG by thresholds: pair by pair, threshold by threshold, and against the losses that it is made of."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm import Problem, Ranker, metrics
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import NDCGLoss
from structsvm.losses.ndcg import PairwiseNDCG, ThresholdNDCG
from tests.losses.test_ndcg import graded, thresholds
from tests.small_problems import score_vectors, tied_scores


def one_kind_for_each(loss: NDCGLoss, y: Vector) -> list[tuple[float, Vector]]:
    """ω and relevance of each threshold, by their definitions: DCGs come from rankings that are written out."""
    gain = np.maximum(y, 0.0) if loss.gain == "linear" else 2.0 ** np.maximum(y, 0.0) - 1.0
    rank = np.arange(1, len(y) + 1)
    discount = 1.0 / np.log2(rank + 1.0 if loss.discount == "standard" else np.maximum(rank, 2))
    discount[loss.k or len(y) :] = 0.0
    ideal = sum(d * g for d, g in zip(discount, sorted(gain, reverse=True), strict=True))
    return [
        ((high - low) * sum(discount[: int((gain >= high).sum())]) / ideal, (gain >= high).astype(float))
        for low, high in pairwise(sorted(set(gain)))
    ]


def code_by_pairs(y_hat: Vector, relevant: Vector) -> Vector:
    code = np.zeros(len(y_hat))
    ones, zeros = np.flatnonzero(relevant), np.flatnonzero(relevant == 0)
    for i in ones:
        for j in zeros:
            sign = 1 if (y_hat[i], -i) > (y_hat[j], -j) else -1
            code[[i, j]] += np.array([sign, -sign]) / (len(ones) * len(zeros))
    return code


@given(loss=thresholds, y=graded, data=st.data())
def test_loss_and_encoding_are_weighted_sums_over_thresholds(loss: NDCGLoss, y: Vector, data: st.DataObject) -> None:
    each = one_kind_for_each(loss, y)
    rankings = [data.draw(tied_scores(len(y))) for _ in each]
    measure = metrics.NDCG(loss.k, discount=loss.discount, gain="linear")
    deltas = [
        w * (1.0 - measure.mean(r, relevant, ties="input")) for (w, relevant), r in zip(each, rankings, strict=True)
    ]
    codes = [w * code_by_pairs(r, relevant) for (w, relevant), r in zip(each, rankings, strict=True)]
    truth = [w * code_by_pairs(y, relevant) for w, relevant in each]
    assert loss.loss(y, np.array(rankings)) == pytest.approx(sum(deltas), abs=1e-12)
    np.testing.assert_allclose(loss.encode(np.array(rankings), y), sum(codes), atol=1e-12)
    np.testing.assert_allclose(loss.encode(y, y), sum(truth), atol=1e-12)


@given(loss=thresholds, y=graded, data=st.data())
def test_one_ranking_stands_for_all_thresholds(loss: NDCGLoss, y: Vector, data: st.DataObject) -> None:
    ranking = data.draw(tied_scores(len(y)))
    repeated = np.tile(ranking, (len(set(np.maximum(y, 0.0))) - 1, 1))
    assert loss.loss(y, ranking) == loss.loss(y, repeated)
    np.testing.assert_array_equal(loss.encode(ranking, y), loss.encode(repeated, y))


@given(loss=thresholds, y=graded, data=st.data())
def test_the_hinge_is_at_least_one_minus_ndcg_of_the_prediction(loss: NDCGLoss, y: Vector, data: st.DataObject) -> None:
    scores = data.draw(score_vectors(len(y)))
    y_hat = loss.loss_augmented_argmax(scores, y)
    hinge = loss.loss(y, y_hat) - (loss.encode(y, y) - loss.encode(y_hat, y)) @ scores
    measure = metrics.NDCG(loss.k, discount=loss.discount, gain=loss.gain)
    assert hinge >= 1.0 - measure.mean(loss.argmax(scores), y) - 1e-9 * (1.0 + np.abs(scores).max())


def test_the_gain_of_all_documents_is_excluded_from_the_loss() -> None:
    """Grades 1 and 2: gains 1 and 3, so that a third of the DCG of any two documents comes from the lower one."""
    loss, y = NDCGLoss(encoding="thresholds"), np.array([1.0, 2.0])
    d = 1.0 / np.log2([2.0, 3.0])
    ideal = 3.0 * d[0] + d[1]
    assert loss.loss(y, -y) == pytest.approx(2.0 * (d[0] - d[1]) / ideal)
    assert loss.labels(y).tolist() == pytest.approx([2.0 * d[0] / ideal, 0.0, 1.0])


def graded_by_two_features() -> tuple[Matrix, Vector, Any]:
    """The first feature tells relevant documents from others, the second grade 2 from grade 1, and each with noise."""
    rng = np.random.default_rng(5)
    y = np.tile([2.0, 1.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0], 30)
    X = 0.3 * rng.standard_normal((len(y), 2))
    X[:, 0] += y > 0
    X[:, 1] += np.select([y == 2, y == 1], [1.0, -1.0], rng.choice([-1.0, 1.0], len(y)))
    return X, y, np.repeat(np.arange(30), 8)


def test_the_most_violated_output_has_a_ranking_for_each_threshold() -> None:
    X, y, qid = graded_by_two_features()
    ranker = Ranker("ndcg@3(truncated=true)").fit(X, y, qid=qid)
    seen = ranker.most_violated(X[:8], y[:8])
    assert seen.output.shape == (2, 8)
    problem = Problem.from_queries(X[:8], y[:8], loss=ranker.loss_, C=1.0)
    point = problem.at(ranker.coef_)
    assert seen.hinge == pytest.approx(problem.violation(problem.planes(point), point)[0])


@given(data=st.data())
def test_counts_agree_with_the_matrices_of_thresholds(data):
    """Queries are set up from the numbers of documents of each gain, without a row for each threshold."""
    grades = st.lists(st.integers(-1, 3), min_size=1, max_size=9).map(lambda values: np.array(values, dtype=float))
    ys = data.draw(st.lists(grades, min_size=1, max_size=4))
    gain = data.draw(st.sampled_from(["exponential", "linear"]))
    loss = ThresholdNDCG(data.draw(st.none() | st.integers(1, 9)), gain=gain)
    reached = [loss._thresholds(y)[1] for y in ys]
    assert [loss.usable(y) for y in ys] == [len(each) > 0 for each in reached]
    binary = PairwiseNDCG(loss.k, discount=loss.discount)
    np.testing.assert_array_equal(loss.params(ys), binary.params([row for each in reached for row in each]))
    for y, each in zip(ys, reached, strict=True):
        np.testing.assert_array_equal(loss.labels(y)[len(each) :], each.sum(axis=0))


def test_setting_up_many_queries_makes_no_matrix_of_thresholds(monkeypatch):
    monkeypatch.setattr(ThresholdNDCG, "_thresholds", None)
    y = np.tile([2.0, 1.0, 0.0], 4)
    assert Problem.from_queries(np.zeros((12, 1)), y, np.repeat(np.arange(4), 3), loss="ndcg").n == 4
