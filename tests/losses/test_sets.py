"""F-beta and the break-even point: sets of documents, against scikit-learn, definitions and enumeration."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import fbeta_score, precision_score, recall_score

from structsvm import Problem, Ranker
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import FBeta, PrecisionRecallBreakEven
from structsvm.problem.oracle import make_oracle
from tests.small_problems import relevances, score_vectors

labels_of_any_kind = st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=1, max_size=7).map(np.array)


@given(data=st.data(), y=labels_of_any_kind, beta=st.sampled_from([0.5, 1.0, 2.0]))
def test_f_beta_is_that_of_scikit_learn(data: Any, y: Vector, beta: float) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    defined = (y > 0).any() or (y_hat > 0).any()
    expected = fbeta_score(y > 0, y_hat > 0, beta=beta, zero_division=0.0) if defined else 1.0
    assert FBeta(beta).loss(y, y_hat) == pytest.approx(1 - expected)


@given(data=st.data(), y=relevances(2, 8))
def test_the_break_even_point_is_precision_and_recall_of_the_first_R(data: Any, y: Vector) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    first = np.zeros(len(y), dtype=bool)
    first[np.argsort(-y_hat, kind="stable")[: (y > 0).sum()]] = True
    loss = PrecisionRecallBreakEven().loss(y, y_hat)
    assert precision_score(y > 0, first) == recall_score(y > 0, first) == pytest.approx(1 - loss)


@given(data=st.data(), y=relevances(2, 7))
def test_joint_features_are_sums_over_documents(data: Any, y: Vector) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    np.testing.assert_array_equal(FBeta().encode(y_hat, y), np.where(y_hat > 0, 1.0, -1.0))
    first = set(np.argsort(-y_hat, kind="stable")[: (y > 0).sum()].tolist())
    expected = [1.0 if document in first else -1.0 for document in range(len(y))]
    np.testing.assert_array_equal(PrecisionRecallBreakEven().encode(y_hat, y), expected)


@given(data=st.data(), y=labels_of_any_kind)
def test_the_plane_is_that_of_a_set_with_its_loss(data: Any, y: Vector) -> None:
    """The documents that the kernel moves make an output, and the loss of that output is the one returned."""
    scores = data.draw(score_vectors(len(y)))
    for loss in (FBeta(), PrecisionRecallBreakEven()):
        planes = make_oracle(loss, [y]).planes(scores, np.array([0, len(y)]), np.ones(1))
        y_hat = np.where(y > 0, 1.0, -1.0) - planes.coef
        assert set(y_hat.tolist()) <= {-1.0, 1.0}
        assert planes.loss[0] == pytest.approx(loss.loss(y, y_hat))


def test_selecting_a_document_without_a_relevant_one_costs_1() -> None:
    none = np.zeros(2)
    assert FBeta().usable(none)
    assert FBeta().loss(none, np.array([-1.0, -1.0])) == 0.0
    assert FBeta().loss(none, np.array([1.0, -1.0])) == 1.0
    assert FBeta(1e-200).loss(np.ones(2), np.array([-1.0, -1.0])) == 1.0
    planes = make_oracle(FBeta(), [none] * 2).planes(np.array([-0.4, -9, -0.6, -9]), np.array([0, 2, 4]), np.ones(2))
    np.testing.assert_array_equal(planes.loss, [1.0, 0.0])  # one of score −0.4 brings 1 − 0.8, of −0.6 nothing
    np.testing.assert_array_equal(planes.coef, [-2.0, 0.0, 0.0, 0.0])


def test_predictions_are_read_as_the_labels_are() -> None:
    scores = np.array([0.5, 0.0, -1.0])
    np.testing.assert_array_equal(FBeta().argmax(scores), [1.0, -1.0, -1.0])
    graded = FBeta(relevant_from=3)
    np.testing.assert_array_equal(graded.relevant(graded.argmax(scores)), [True, False, False])
    np.testing.assert_array_equal(PrecisionRecallBreakEven().argmax(scores), scores)


@pytest.mark.parametrize("beta", [0, -1.0, np.inf, np.nan, "1", True])
def test_beta_is_positive(beta: Any) -> None:
    with pytest.raises(InputError, match=r"FBeta\(beta=...\) must be a positive finite number, got"):
        FBeta(beta)


def imbalanced() -> tuple[Any, Any]:
    """A tenth of the rows are positive, and overlap with negative rows."""
    rng = np.random.default_rng(0)
    y = (rng.random(400) < 0.1).astype(np.float64)
    X = rng.standard_normal((400, 3))
    X[:, 0] += 2.5 * y
    return X, y


@pytest.mark.parametrize("loss", [FBeta(), PrecisionRecallBreakEven()], ids=repr)
def test_replaceable_relevant_documents_make_the_optimum_zero(loss: Any) -> None:
    """The sum of the features of the relevant rows is also one of as many others: no w has a hinge below 1."""
    X, y = np.array([[1.0], [-1.0], [2.0], [-2.0]]), np.array([1.0, 1.0, 0.0, 0.0])
    result = Ranker(loss, C=1e4, fit_intercept=True).fit(X, y).result_
    assert result.primal == pytest.approx(1e4)
    np.testing.assert_allclose(result.w, 0.0, atol=1e-12)


def test_an_intercept_has_nothing_to_do_for_the_break_even_point() -> None:
    X, y = imbalanced()
    ranker = Ranker(PrecisionRecallBreakEven(), fit_intercept=True).fit(X, y)
    assert ranker.intercept_ == 0.0
    hinge = ranker.result_.primal - 0.5 * ranker.result_.w @ ranker.result_.w
    assert PrecisionRecallBreakEven().loss(y, ranker.predict(X)) <= hinge


def test_queries_of_one_kind_teach_f_beta_and_not_the_break_even_point() -> None:
    X, y, qid = np.eye(4), np.array([1.0, 0.0, 0.0, 0.0]), np.array([0, 0, 1, 1])
    assert Problem.from_queries(X, y, qid, loss=FBeta()).left_out == 0
    assert Problem.from_queries(X, y, qid, loss=PrecisionRecallBreakEven()).left_out == 1
    with pytest.raises(InputError, match="each has documents of one kind only"):
        Problem.from_queries(X, np.zeros(4), qid, loss=PrecisionRecallBreakEven())
    with pytest.raises(InputError, match="the labels y must be numbers for FBeta"):
        Problem.from_queries(X, np.array(list("abcd")), qid, loss=FBeta())
