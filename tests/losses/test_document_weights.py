"""Losses of pairs with weights of documents: a pair counts the product of its weights."""

from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from structsvm import Problem, Ranker
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import GradedPairsLoss, ROCArea, SlackRescaled, SwappedPairs, WeightedRanks
from structsvm.losses.shared.weighted_labels import WeightedLabels
from structsvm.objectives import Hinge
from structsvm.testing import check_loss
from tests.losses.test_kernels import assert_kernel_agrees


@frozen
class ByDifference(GradedPairsLoss):
    def weight(self, better: Vector, worse: Vector) -> Vector:
        return better - worse


LOSSES = [ROCArea(), SwappedPairs(), ByDifference()]
DOCUMENTS = st.tuples(st.sampled_from([0.0, 1.0, 2.0]), st.sampled_from([0.0, 0.25, 0.3, 0.7, 1.0]))


@pytest.mark.parametrize("loss", [*LOSSES, WeightedRanks()], ids=str)
@given(rows=st.lists(DOCUMENTS, min_size=2, max_size=5), seed=st.integers(0, 99))
def test_the_argmax_is_exact_by_enumeration(loss: Any, rows: Any, seed: int) -> None:
    y = WeightedLabels(*np.array(rows).T)
    if loss.usable(y):
        check_loss(loss, [y], trials=2, random_state=seed)
        assert_kernel_agrees(loss, [y], [np.random.default_rng(seed).normal(size=len(y))])


def test_the_loss_is_one_minus_the_weighted_roc_area() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        y, weights, scores = np.array([0.0, 1.0, *rng.integers(0, 2, 5)]), rng.uniform(0.1, 2.0, 7), rng.random(7)
        expected = 1.0 - roc_auc_score(y, scores, sample_weight=weights)
        assert ROCArea().loss(WeightedLabels(y, weights), scores) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("loss", LOSSES, ids=str)
def test_a_weight_counts_as_copies_of_the_document(loss: Any) -> None:
    rng = np.random.default_rng(1)
    X, y, qid = rng.normal(size=(40, 3)), rng.integers(0, 3, 40) * 1.0, np.repeat(np.arange(8), 5)
    weights = rng.integers(1, 4, 40)
    copies = np.repeat(np.arange(40), weights)
    of_query = np.array([weights[qid == k].max() for k in range(8)])[qid]
    by_weight = Problem.from_queries(X, y, qid, loss=loss, sample_weight=weights)
    by_copies = Problem.from_queries(X[copies], y[copies], qid[copies], loss=loss, sample_weight=of_query[copies])
    hinges = (
        Hinge(loss, y, qid, sample_weight=weights),
        Hinge(loss, y[copies], qid[copies], sample_weight=of_query[copies]),
    )
    scores = rng.normal(size=40)
    gradients = [hinge(scores[rows]).gradient for hinge, rows in zip(hinges, (slice(None), copies), strict=True)]
    np.testing.assert_allclose(gradients[0], np.bincount(copies, gradients[1]), atol=1e-12)
    for w in rng.normal(size=(3, 3)):
        values = [problem.primal(problem.planes(point := problem.at(w)), point) for problem in (by_weight, by_copies)]
        assert values[0] == pytest.approx(values[1], rel=1e-12)


def test_weights_multiply_the_labels_of_weighted_ranks() -> None:
    y, weights = np.array([0.0, 2.0, 1.0]), np.array([1.0, 0.5, 0.25])
    assert (WeightedRanks().labels(WeightedLabels(y, weights)) == WeightedRanks().labels(y * weights)).all()


def test_losses_that_cannot_weigh_documents_are_refused() -> None:
    X, y, weights = np.eye(4), np.array([0.0, 1.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0, 1.0])
    for loss in ("map", SlackRescaled(ROCArea())):
        with pytest.raises(InputError, match=r"differs within a query.*roc_area or swapped_pairs"):
            Ranker(loss).fit(X, y, qid=np.zeros(4), sample_weight=weights)
