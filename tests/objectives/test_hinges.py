"""Hinges of scores against their definition by enumeration, finite differences, and the objective of solvers."""

import inspect
import pickle
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from structsvm import Ranker, losses, most_violated
from structsvm.exceptions import InputError, OracleError, UnknownNameError
from structsvm.foundation.types import Vector
from structsvm.losses import (
    AveragePrecision,
    GraphHamming,
    Loss,
    PairwiseLoss,
    ScoreLoss,
    SlackRescaled,
)
from structsvm.objectives import Hinge
from structsvm.objectives import hinges as hinges_module
from structsvm.objectives.hinges import Recent
from tests.losses.cases import HINGE, cases_of
from tests.small_problems import hinge

OF_QUERIES = [case.loss for case in cases_of(HINGE) if case.sizes is None]
OF_OUTPUTS = [(case.loss, case.outputs, case.sizes) for case in cases_of(HINGE) if case.sizes is not None]


class MinusDocuments(PairwiseLoss):
    """Average precision, whose Python argmax looks at one output only, which may be no worse than the truth."""

    exact = False

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return AveragePrecision().loss(y, y_hat)

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return -np.asarray(y, dtype=np.float64)


def queries(rng: np.random.Generator) -> tuple[Vector, Any, Vector]:
    """Five queries of which the rows are mixed; one has a single grade, one a single document."""
    ys = [[0, 2, 1], [1, 0, 0, 2], [0, 0, 0], [2], [2, 0, 2, 0]]
    y, qid = np.concatenate(ys).astype(np.float64), np.repeat(["e", "a", "d", "b", "c"], list(map(len, ys)))
    mixed = rng.permutation(len(y))
    return y[mixed], qid[mixed], rng.standard_normal(len(y))


def by_enumeration(loss: Any, scores: Vector, y: Any) -> float:
    truth = loss.encode(y, y)
    return float(max(loss.loss(y, y_hat) + scores @ (loss.encode(y_hat, y) - truth) for y_hat in loss.outputs(y)))


def assert_is_derivative(of: Hinge, scores: Vector) -> None:
    """Compare the gradient with central differences, which are exact if the hinge is linear near by."""
    h, gradient = 1e-6, of(scores).gradient
    for k in range(len(scores)):
        step = h * np.eye(len(scores))[k]
        up, down = (of(scores + sign * step).values.sum() for sign in (1, -1))
        assert (up - down) / (2 * h) == pytest.approx(gradient[k], abs=1e-6)


@pytest.mark.parametrize("size", [0.3, 2.0])
@pytest.mark.parametrize("loss", OF_QUERIES, ids=repr)
def test_hinges_of_queries_are_those_of_the_definition(loss: Any, size: float) -> None:
    rng = np.random.default_rng(int(10 * size))
    y, qid, scores = queries(rng)
    of = Hinge(loss, y, qid)
    scores = size * scores
    bound = loss.bind(y)
    known = [q for q in dict.fromkeys(qid.tolist()) if bound.usable(y[qid == q])]
    values, gradient = of(scores)
    assert of.ids.tolist() == known
    assert len(of) == len(known) >= 2
    expected = [by_enumeration(bound, scores[qid == q], y[qid == q]) for q in known]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)
    assert not gradient[~np.isin(qid, known)].any()
    assert_is_derivative(of, scores)
    for q, y_hat, value in zip(known, of.most_violated(scores), values, strict=True):
        s, truth = scores[qid == q], y[qid == q]
        at = bound.loss(truth, y_hat) + s @ (bound.encode(y_hat, truth) - bound.encode(truth, truth))
        assert at == pytest.approx(value, abs=1e-12)


@pytest.mark.parametrize(("loss", "ys", "sizes"), OF_OUTPUTS, ids=lambda value: repr(value)[:40])
def test_hinges_of_other_outputs_are_those_of_the_definition(loss: Any, ys: Any, sizes: list[int]) -> None:
    rng = np.random.default_rng(3)
    of = Hinge.of_outputs(loss, ys, sizes)
    scores = rng.standard_normal(sum(sizes))
    parts = np.split(scores, np.cumsum(sizes)[:-1])
    values, _ = of(scores)
    expected = [by_enumeration(of.loss, *each) for each in zip(parts, ys, strict=True)]
    np.testing.assert_allclose(values, expected, rtol=1e-12, atol=1e-12)
    assert_is_derivative(of, scores)
    for s, y, y_hat, value in zip(parts, ys, of.most_violated(scores), values, strict=True):
        at = of.loss.loss(y, y_hat) + s @ (of.loss.encode(y_hat, y) - of.loss.encode(y, y))
        assert at == pytest.approx(value, abs=1e-12)


def test_every_loss_that_is_shipped_is_among_these() -> None:
    shipped = {getattr(losses, name) for name in losses.__all__}
    concrete = {kind for kind in shipped if issubclass(kind, ScoreLoss) and not inspect.isabstract(kind)}
    of_sets = {losses.PartHamming, losses.Regret}
    assert concrete - of_sets == {
        GraphHamming,
        *(type(loss) for loss in [*OF_QUERIES, *(loss for loss, _, _ in OF_OUTPUTS)]),
    }


def test_labels_of_graphs_have_no_hinges_without_the_graph() -> None:
    with pytest.raises(InputError, match="labels alone do not say which nodes an edge joins: use StructuralSVM"):
        Hinge.of_outputs(GraphHamming([0, 1]), [[0, 1, 1]], [10])


@given(name=st.sampled_from(["map", "ndcg", "roc_area", "p@2", "f1", "swapped_pairs"]), seed=st.integers(0, 10_000))
def test_the_gradient_is_a_subgradient_at_ties_too(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    y, qid, _ = queries(rng)
    of = Hinge(name, y, qid)
    here, there = rng.integers(-2, 3, (2, len(y))) / 2.0
    values, gradient = of(here)
    assert of(there).values.sum() >= values.sum() + gradient @ (there - here) - 1e-9
    assert (values >= 0.0).all()


def test_solvers_minimize_the_mean_of_the_values() -> None:
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((60, 4)), np.repeat(np.arange(6), 10)
    y = (X[:, 0] + rng.standard_normal(60) > 0.5).astype(np.float64)
    kappa = np.repeat([1.0, 2.0, 0.5, 3.0, 1.0, 0.0], 10)
    ranker = Ranker(C=7.0, tol=1e-8).fit(X, y, qid=qid, sample_weight=kappa)
    of = Hinge("map", y, qid, sample_weight=kappa)
    values, gradient = of(ranker.predict(X))
    w = ranker.coef_
    assert 0.5 * w @ w + 7.0 / len(of) * of.weights @ values == pytest.approx(ranker.result_.primal, rel=1e-9)
    assert gradient @ ranker.predict(X) <= of.weights @ values  # the hinge of no scores is larger than 0
    third = of.ids[2]
    seen = most_violated(X[qid == third], y[qid == third], w, loss="map")
    assert values[2] == pytest.approx(seen.hinge, abs=1e-12)
    np.testing.assert_array_equal(of.most_violated(ranker.predict(X))[2], seen.output)


def test_weights_are_in_the_gradient_alone() -> None:
    rng = np.random.default_rng(2)
    y, qid, scores = queries(rng)
    kappa = {"a": 2.0, "b": 9.0, "c": 0.0, "d": 4.0, "e": 0.5}
    rows = np.array([kappa[q] for q in qid])
    plain, weighted = Hinge("map", y, qid), Hinge("map", y, qid, sample_weight=rows)
    np.testing.assert_array_equal(weighted(scores).values, plain(scores).values)
    np.testing.assert_array_equal(weighted(scores).gradient, plain(scores).gradient * rows)
    assert weighted.weights.tolist() == [kappa[q] for q in weighted.ids]
    np.testing.assert_array_equal(plain.per_row(weighted.weights), np.where(np.isin(qid, plain.ids), rows, 0.0))


def test_threads_change_nothing() -> None:
    y, qid = np.tile([1.0, 0.0, 0.0, 1.0, 0.0], 30_000), np.repeat(np.arange(1500), 100)
    scores, of = np.random.default_rng(0).standard_normal(150_000), Hinge("map", y, qid)
    result = []
    for jobs in (1, 2):
        with joblib.parallel_config(n_jobs=jobs):
            result.append(of(scores))
    np.testing.assert_array_equal(*(each.values for each in result))
    np.testing.assert_array_equal(*(each.gradient for each in result))


def test_rows_that_are_examples_have_a_hinge_each() -> None:
    of = Hinge("zero_one", [1, 0, 1], [5, 5, 5])
    values, gradient = of([0.25, 0.5, 3.0])
    np.testing.assert_array_equal(values, [0.75, 1.5, 0.0])
    np.testing.assert_array_equal(gradient, [-1.0, 1.0, 0.0])
    assert of.ids.tolist() == [0, 1, 2]


def test_an_inexact_argmax_counts_where_it_is_worse_than_the_truth() -> None:
    y, qid = np.array([1.0, 0.0, 1.0, 0.0]), np.array([0, 0, 1, 1])
    of = Hinge(MinusDocuments(), y, qid)
    scores = np.array([0.0, 0.0, 9.0, 0.0])
    values, gradient = of(scores)
    np.testing.assert_array_equal(values, [0.5, 0.0])
    np.testing.assert_array_equal(gradient, [-2.0, 2.0, 0.0, 0.0])
    assert [output.tolist() for output in of.most_violated(scores)] == [[-1.0, 0.0], [1.0, 0.0]]


def test_labels_that_another_thread_brings_are_not_taken_for_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    y, qid = np.array([0.0, 1.0, 0.0, 1.0]), np.array([0, 0, 1, 1])
    recent, usual = Recent("map"), hinges_module._same
    recent.of(y, qid)

    def while_another_comes(one: Any, other: Any) -> bool:
        monkeypatch.setattr(hinges_module, "_same", usual)
        recent.of(1.0 - y, qid)
        return usual(one, other)

    monkeypatch.setattr(hinges_module, "_same", while_another_comes)
    np.testing.assert_array_equal(np.concatenate(recent.of(y, qid)._ys), y)


def test_the_labels_that_came_last_are_prepared_once() -> None:
    recent = Recent("map")
    y, qid = np.array([1.0, 0.0, 0.0]), np.zeros(3)
    first = recent.of(y, qid)
    assert recent.of(y.copy(), qid.copy()) is first
    y[1] = 1.0  # in place, as frameworks may
    second = recent.of(y, qid)
    assert second is not first
    np.testing.assert_allclose(second([0.0, 0.0, 1.0]).values, hinge("map", [0.0, 0.0, 1.0], y, qid).values)
    assert recent.of(y, None) is not second
    assert len(pickle.dumps(recent)) < 200


class Margins(Loss[Any, Any]):
    def joint_feature(self, x: Any, y: Any) -> Vector:
        return np.ones(1)

    def loss(self, y: Any, y_hat: Any) -> float:
        return 0.0

    def loss_augmented_argmax(self, x: Any, y: Any, w: Vector) -> Any:
        return y

    def argmax(self, x: Any, w: Vector) -> Any:
        return 0

    def slack_rescaled_argmax(self, x: Any, y: Any, w: Vector) -> Any:
        return y


class WrongArgmax(AveragePrecision):
    kernel = None

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return -np.asarray(scores)


class NoArgmax(AveragePrecision):
    kernel = None

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        raise KeyError("nothing")


Y, QID, S = [1.0, 0.0, 0.0], [4, 4, 4], [0.0, 1.0, 2.0]


def mistakes() -> Iterator[tuple[Any, type, str]]:
    yield lambda: hinge("mapp", S, Y, QID), UnknownNameError, "Did you mean 'map'"
    yield lambda: hinge(Margins(), S, Y, QID), InputError, "Margins is a Loss: its joint feature"
    yield lambda: hinge(SlackRescaled(Margins()), S, Y, QID), InputError, "is a Loss: its joint feature"
    yield lambda: hinge("multiclass", S, Y, QID), InputError, "Hinge.of_outputs"
    yield lambda: hinge("map", S, [1.0, np.nan, 0.0], QID), InputError, "first in row 1"
    yield lambda: hinge("map", S, Y, QID[:2]), InputError, "qid must be one query id per row"
    yield lambda: hinge("map", S[:2], Y, QID), InputError, r"one score per row, shape \(3,\), got shape \(2,\)"
    yield lambda: hinge("map", [S], Y, QID), InputError, r"got shape \(1, 3\)"
    yield lambda: hinge("map", [0.0, np.inf, 1.0], Y, QID), InputError, "row 1 has inf. Training has diverged"
    yield lambda: hinge("map", [0.0, np.nan, 1.0], Y, QID), InputError, "row 1 has nan"
    yield lambda: hinge("map", S, [0.0, 0.0, 0.0], QID), InputError, "cannot learn from any of the 1 queries"
    yield lambda: hinge("map", S, Y, QID, sample_weight=[1, 2, 1]), InputError, "differs within a query"
    yield lambda: hinge("map", [], [], []), InputError, "y has no labels"
    yield lambda: Hinge.of_outputs("multiclass", ["a", "b"], 3), InputError, "example 0 has 3 scores"
    yield lambda: Hinge.of_outputs("multiclass", ["a", "b"], [2, 2, 2]), InputError, "sizes must be the number"
    yield lambda: Hinge("map", Y, QID).per_row([1.0, 2.0]), InputError, "one entry for each of the 1 usable queries"
    yield lambda: Hinge.of_outputs("multiclass", ["a", "b"], 1.5), InputError, "sizes must be the number"
    yield lambda: hinge(WrongArgmax(), [2.0, 0.0, 0.0], Y, QID), OracleError, "returned a wrong output"
    yield lambda: hinge(NoArgmax(), S, Y, QID), InputError, "NoArgmax.loss_augmented_argmax raised KeyError"
    yield lambda: Hinge(NoArgmax(), Y, QID).most_violated(S), InputError, "NoArgmax.loss_augmented_argmax raised"


@pytest.mark.parametrize(
    ("call", "kind", "message"), list(mistakes()), ids=lambda value: value if type(value) is str else ""
)
def test_mistakes_are_told(call: Any, kind: type, message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_batches_may_have_no_usable_query() -> None:
    of = Hinge("map", [0.0, 0.0], [1, 2], none_usable=True)
    values, gradient = of([1.0, 2.0])
    assert len(of) == len(values) == 0
    assert not gradient.any()
    assert not len(Hinge("map", [], [], none_usable=True)([]).values)
