"""Shipped losses against their definitions, pair by pair and output by output."""

from typing import Any

import numpy as np
import pytest
from attrs import frozen
from hypothesis import given
from hypothesis import strategies as st

from structsvm import Ranker
from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.composed import PerClass
from structsvm.foundation.types import Vector
from structsvm.losses import (
    AveragePrecision,
    Multiclass,
    NDCGLoss,
    PairwiseLoss,
    ROCArea,
    SwappedPairs,
    ZeroOne,
)
from structsvm.registry import Registry
from structsvm.testing import check_loss
from tests.small_problems import Kronecker, PlainROCArea, ranking_arrays, relevances, score_vectors

RANKING_LOSSES = [AveragePrecision(), ROCArea()]
each_ranking_loss = pytest.mark.parametrize("loss", RANKING_LOSSES, ids=lambda loss: loss.title)


@pytest.mark.parametrize(
    ("loss", "examples"),
    [
        (SwappedPairs(), [np.array([5.0, -1.0, 2.5, 0.0, 7.0])]),
        (ZeroOne(), [1.0, -1.0, 0.0, 2.0]),
        (Multiclass(classes=range(4)), range(4)),
        (Multiclass(classes=["a", "b"]), ["a", "b"]),
        (Multiclass(classes=[7]), [7]),
    ],
    ids=str,
)
def test_other_losses_pass_check_loss(loss: Any, examples: Any) -> None:
    """`tests.losses.test_kernels` checks the losses of queries."""
    check_loss(loss, examples, trials=4)


def test_losses_without_a_kernel_pass_check_loss() -> None:
    check_loss(PlainROCArea())
    check_loss(Kronecker(), [(np.array([1.0, -0.5]), k) for k in range(3)])


@st.composite
def ranked_queries(draw: st.DrawFn) -> tuple[Vector, Vector]:
    y = draw(relevances())
    return y, draw(score_vectors(len(y)))


def ahead(y_hat: Vector) -> np.ndarray:
    """y_ij: 1 if i is ahead of j, else −1; ties are in document order."""
    n = len(y_hat)
    return np.array([[1 if (y_hat[i], -i) > (y_hat[j], -j) else -1 for j in range(n)] for i in range(n)])


@each_ranking_loss
@given(query=ranked_queries())
def test_the_encoding_is_a_sum_over_pairs(loss: PairwiseLoss, query: tuple[Vector, Vector]) -> None:
    y, y_hat = query
    relevant, order = np.flatnonzero(y > 0), ahead(y_hat)
    others = np.flatnonzero(~(y > 0))
    code = np.zeros(len(y))
    for i in relevant:
        for j in others:
            code[[i, j]] += np.array([1, -1]) * order[i, j] / (len(relevant) * len(others))
    np.testing.assert_allclose(loss.encode(y_hat, y), code, atol=1e-12)


@given(query=ranked_queries())
def test_roc_area_is_the_share_of_swapped_pairs(query: tuple[Vector, Vector]) -> None:
    y, y_hat = query
    swapped = (ahead(y_hat) < 0)[np.ix_(y > 0, ~(y > 0))]
    assert ROCArea().loss(y, y_hat) == pytest.approx(swapped.mean())


@given(query=ranked_queries())
def test_average_precision_is_the_mean_precision_at_relevant_ranks(query: tuple[Vector, Vector]) -> None:
    y, y_hat = query
    rank = 1 + (ahead(y_hat) < 0).sum(axis=1) - 1  # everything not ahead of it, itself included
    precision = [np.mean(y[rank <= rank[i]] > 0) for i in np.flatnonzero(y > 0)]
    assert AveragePrecision().loss(y, y_hat) == pytest.approx(1 - np.mean(precision))


@given(query=ranked_queries())
def test_roc_area_hinge_is_a_mean_over_pairs(query: tuple[Vector, Vector]) -> None:
    y, scores = query
    loss = ROCArea()
    y_hat = loss.loss_augmented_argmax(scores, y)
    hinge = loss.loss(y, y_hat) - (loss.encode(y, y) - loss.encode(y_hat, y)) @ scores
    pairs = scores[y > 0][:, None] - scores[~(y > 0)]
    assert hinge == pytest.approx(np.maximum(0, 1 - 2 * pairs).mean(), abs=1e-9)


@pytest.mark.parametrize("y", [1.0, -1.0])
@given(score=st.floats(-5, 5))
def test_zero_one_hinge_is_that_of_a_classification_svm(y: float, score: float) -> None:
    loss, scores = ZeroOne(), np.array([score])
    y_hat = loss.loss_augmented_argmax(scores, y)
    hinge = loss.loss(y, y_hat) - (loss.encode(y, y) - loss.encode(y_hat, y)) @ scores
    assert hinge == pytest.approx(max(0.0, 1 - y * score))
    assert loss.argmax(scores) == (1.0 if score > 0 else -1.0)


@given(scores=score_vectors(4), y=st.integers(0, 3))
def test_multiclass_hinge_is_crammer_and_singers(scores: Vector, y: int) -> None:
    loss = Multiclass(classes=range(4))
    y_hat = loss.loss_augmented_argmax(scores, y)
    hinge = loss.loss(y, y_hat) - (loss.encode(y, y) - loss.encode(y_hat, y)) @ scores
    others = np.delete(scores, y)
    assert hinge == pytest.approx(max(0.0, 1 + others.max() - scores[y]))


@each_ranking_loss
def test_queries_with_one_kind_of_document_are_not_usable(loss: PairwiseLoss) -> None:
    assert not loss.usable(np.array([1.0, 2.0]))
    assert not loss.usable(np.array([0.0, -1.0]))
    assert not loss.usable(np.array([1.0]))


@each_ranking_loss
def test_relevant_from_moves_the_border(loss: PairwiseLoss) -> None:
    graded = np.array([0.0, 1.0, 2.0])
    np.testing.assert_array_equal(loss.relevant(graded), [False, True, True])
    np.testing.assert_array_equal(type(loss)(relevant_from=2).relevant(graded), [False, False, True])
    np.testing.assert_array_equal(type(loss)(relevant_from=0).relevant(graded), [True, True, True])


def test_multiclass_takes_its_classes_from_the_training_set() -> None:
    bound = Multiclass().bind(["cat", "dog", "ant", "cat"])
    assert bound.classes == ("ant", "cat", "dog")
    assert bound.bind(["other"]) is bound
    assert isinstance(bound.operator(Rows.one_row_per_example(np.ones((1, 2)))), PerClass)
    assert bound == Multiclass(classes=np.array(["ant", "cat", "dog"]))


def test_multiclass_names_what_is_missing() -> None:
    with pytest.raises(InputError, match=r"'bird' is not among the classes \('cat', 'dog'\)"):
        Multiclass(classes=["cat", "dog"]).labels("bird")
    with pytest.raises(InputError, match=r"give Multiclass\(classes=...\)"):
        Multiclass().argmax(np.zeros(3))


def test_a_generic_loss_has_no_use_for_an_intercept() -> None:
    with pytest.raises(InputError, match="Kronecker makes its own joint features"):
        Kronecker().predict([np.ones(2)], np.zeros(6), intercept=1.0)


def test_losses_are_values() -> None:
    assert AveragePrecision() == AveragePrecision() != AveragePrecision(relevant_from=2)
    assert {ROCArea(), ROCArea()} == {ROCArea()}
    assert repr(ROCArea(relevant_from=2.0)) == "ROCArea(relevant_from=2.0)"
    with pytest.raises(AttributeError):
        ZeroOne().x = 1  # type: ignore[attr-defined]


def test_predict_gives_an_output_for_each_input() -> None:
    xs = [np.array([[1.0], [3.0]]), np.array([[2.0]])]
    ranked = AveragePrecision().predict(xs, np.array([2.0]))
    np.testing.assert_array_equal(ranked[0], [2.0, 6.0])
    np.testing.assert_array_equal(ranked[1], [4.0])
    assert Kronecker().predict([np.array([1.0])], np.array([0.0, 2.0, 1.0])) == [1]


@pytest.mark.parametrize("value", ["2", np.nan, np.inf, True, [1.0]])
@pytest.mark.parametrize("make", [AveragePrecision, ROCArea, NDCGLoss])
def test_relevance_starts_at_a_finite_number(make: Any, value: Any) -> None:
    with pytest.raises(InputError, match=r"\(relevant_from=...\) must be a finite number, got"):
        make(relevant_from=value)
    assert make(relevant_from=np.int64(2)).relevant_from == 2


class Doubled(PlainROCArea):
    """Its operator makes two scores per row, without declaring it."""

    def operator(self, rows: Operator) -> Operator:
        return PerClass(rows, 2)


class Declared(Doubled):
    scores_rows = False


def test_a_loss_that_gives_rows_more_than_one_score_is_no_loss_of_a_ranker() -> None:
    X, y, qid = ranking_arrays(0)
    for loss in (Doubled(), Declared()):
        with pytest.raises(InputError, match=f"{type(loss).__name__}.* does not give each row one score"):
            Ranker(loss).fit(X, y, qid)
    with pytest.raises(AssertionError, match="makes an operator with 4 weights of rows with 2 .*set scores_rows = Fa"):
        check_loss(Doubled())
    with pytest.raises(InputError, match="is not of queries: give examples"):
        check_loss(Declared())


def test_a_fit_makes_its_loss_once_and_binds_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    create, bind = Registry.create, NDCGLoss.bind

    def created(self: Any, spec: Any, **settings: Any) -> Any:
        calls.extend(["create"] if spec == "ndcg" else [])
        return create(self, spec, **settings)

    def bound(self: NDCGLoss, ys: Any) -> NDCGLoss:
        calls.append("bind")
        return bind(self, ys)

    monkeypatch.setattr(Registry, "create", created)
    monkeypatch.setattr(NDCGLoss, "bind", bound)
    monkeypatch.setattr(NDCGLoss, "chosen", lambda self, ys: self._encoded)
    X, y, qid = ranking_arrays(0)
    ranker = Ranker("ndcg", C=10.0).fit(X, y, qid)
    assert ranker.loss_.encoding == "pairwise"
    assert calls == ["create", "bind"]


def test_a_kernel_need_not_be_a_static_method() -> None:
    @frozen
    class Bare(ROCArea):
        kernel = ROCArea.kernel

    check_loss(Bare(), [np.array([1.0, 0.0, 1.0])], trials=1)
