"""NDCG and reciprocal rank: definitions, encodings, and how one is chosen."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from structsvm import Problem, Ranker, metrics
from structsvm.exceptions import InputError
from structsvm.foundation.types import Vector
from structsvm.losses import NDCGLoss, ReciprocalRank
from structsvm.testing import check_loss
from tests.small_problems import score_vectors

discounts = st.sampled_from(["standard", "letor"])
gains = st.sampled_from(["exponential", "linear"])


def labels(grades: list[float], largest: int = 5) -> st.SearchStrategy[Vector]:
    """Labels of a query, not all of one gain."""
    several = st.lists(st.sampled_from(grades), min_size=2, max_size=largest).map(np.array)
    return several.filter(lambda y: y.max() > max(y.min(), 0.0))


binary = labels([0.0, 1.0])
graded = labels([-1.0, 0.0, 1.0, 2.0, 3.0])


def of_encoding(encoding: Any) -> st.SearchStrategy[NDCGLoss]:
    """NDCG without a cut-off, or truncated at one."""
    settings: Any = {"discount": discounts, "gain": gains, "encoding": st.just(encoding)}
    truncated = st.builds(NDCGLoss, st.integers(1, 7), **settings, truncated=st.just(True))
    return st.builds(NDCGLoss, **settings) | truncated


position, pairwise, thresholds = map(of_encoding, ("position", "pairwise", "thresholds"))
each_encoding = pytest.mark.parametrize("encoding", ["position", "pairwise", "thresholds"])


@given(loss=position | thresholds, y=graded, data=st.data())
def test_delta_of_grades_is_one_minus_the_measure(loss: NDCGLoss, y: Vector, data: st.DataObject) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    measure = metrics.NDCG(loss.k, discount=loss.discount, gain=loss.gain)
    assert loss.loss(y, y_hat) == pytest.approx(1.0 - measure.mean(y_hat, y, ties="input"), abs=1e-12)


@given(loss=pairwise, y=binary, data=st.data())
def test_delta_of_pairs_is_one_minus_ndcg_for_binary_labels(loss: NDCGLoss, y: Vector, data: st.DataObject) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    measure = metrics.NDCG(loss.k, discount=loss.discount, gain=loss.gain)
    assert loss.loss(y, y_hat) == pytest.approx(1.0 - measure.mean(y_hat, y, ties="input"), abs=1e-12)


@given(y=labels([0.0, 1.0, 2.0]), data=st.data())
def test_delta_of_reciprocal_rank_is_one_minus_the_measure(y: Vector, data: st.DataObject) -> None:
    y_hat = data.draw(score_vectors(len(y)))
    assert ReciprocalRank().loss(y, y_hat) == pytest.approx(1.0 - metrics.RR().mean(y_hat, y, ties="input"), abs=1e-12)


@example(NDCGLoss(gain="linear", encoding="position"), [np.array([-1.0, 3.0, 3.0, 3.0, 3.0])], 0)  # rounding below 0
@settings(max_examples=10)
@given(loss=position | pairwise | thresholds, ys=st.lists(graded, min_size=1, max_size=2), seed=st.integers(0, 1000))
def test_ndcg_passes_check_loss(loss: NDCGLoss, ys: list[Vector], seed: int) -> None:
    if loss.encoding == "thresholds":
        ys = [y[:4] for y in ys]
    if any(loss.usable(y) for y in ys):
        check_loss(loss, ys, trials=2, random_state=seed)


def test_the_truth_shares_discounts_within_a_grade() -> None:
    loss = NDCGLoss(encoding="position")
    d = 1.0 / np.log2([2.0, 3.0, 4.0])
    y = np.array([0.0, 2.0, 2.0])
    np.testing.assert_allclose(loss.encode(y, y), [d[2], (d[0] + d[1]) / 2, (d[0] + d[1]) / 2])
    np.testing.assert_allclose(
        NDCGLoss(2, encoding="position", truncated=True).encode(y, y), [0.0, (d[0] + d[1]) / 2, (d[0] + d[1]) / 2]
    )


@each_encoding
def test_queries_of_one_gain_are_not_usable(encoding: Any) -> None:
    loss = NDCGLoss(encoding=encoding)
    assert not loss.usable(np.array([1.0, 1.0]))
    assert not loss.usable(np.array([0.0, -1.0]))
    assert not loss.usable(np.array([2.0]))
    assert loss.usable(np.array([0.0, 2.0]))


@pytest.mark.parametrize(
    ("loss", "ys", "encoding"),
    [
        (NDCGLoss(), [[0.0, 1.0], [1.0, 0.0]], "pairwise"),
        (NDCGLoss(), [[0.0, 1.0], [2.0, 0.0]], "thresholds"),
        (NDCGLoss(), [[0.0, 2.0], [2.0, -1.0]], "pairwise"),
        (NDCGLoss(), np.array([0, 1, 0, 2]), "thresholds"),
        (NDCGLoss(), np.array([0, 1, 0, 1]), "pairwise"),
        (NDCGLoss(), [], "pairwise"),
        (NDCGLoss(10), np.array([0, 1, 2]), "thresholds"),
        (NDCGLoss(10), np.array([0, 2, -1]), "pairwise"),
        (NDCGLoss(10, truncated=True), np.array([0, 1, 2]), "thresholds"),
        (NDCGLoss(10, truncated=True), np.array([0, 2, -1]), "pairwise"),
        (NDCGLoss(relevant_from=2), np.array([0, 1, 2]), "pairwise"),
        (NDCGLoss(encoding="pairwise"), np.array([0, 1, 2]), "pairwise"),
        (NDCGLoss(10, encoding="position"), np.array([0, 1, 0]), "position"),
        (NDCGLoss(encoding="thresholds"), np.array([0, 1, 0]), "thresholds"),
    ],
)
def test_the_labels_of_the_training_set_choose_the_encoding(loss: NDCGLoss, ys: Any, encoding: str) -> None:
    bound = loss.bind(ys)
    assert bound.encoding == encoding
    assert bound.bind(np.array([0, 1, 2, 3])) == bound
    assert bound.k == (loss.k if loss.truncated else None)


@each_encoding
def test_a_cutoff_trains_at_full_depth_unless_truncated(grades: Any, encoding: Any) -> None:
    X, y, qid = grades
    full, at_3, truncated = (
        Ranker(loss, C=10.0).fit(X, y, qid=qid)
        for loss in (
            NDCGLoss(encoding=encoding),
            NDCGLoss(3, encoding=encoding),
            NDCGLoss(3, encoding=encoding, truncated=True),
        )
    )
    assert at_3.loss_ == full.loss_ == NDCGLoss(encoding=encoding)
    np.testing.assert_array_equal(at_3.coef_, full.coef_)
    assert at_3.result_.primal == full.result_.primal
    assert truncated.loss_ == NDCGLoss(3, encoding=encoding, truncated=True)
    assert abs(truncated.result_.primal - full.result_.primal) > 2e-3 * 10.0


def test_settings_are_checked() -> None:
    with pytest.raises(InputError, match="has no cut-off to be truncated at: give one, as in NDCGLoss"):
        NDCGLoss(truncated=True)
    with pytest.raises(InputError, match="truncated"):
        NDCGLoss(3, truncated=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"NDCGLoss\(k=...\) must be an integer of at least 1, got 0"):
        NDCGLoss(0)
    with pytest.raises(InputError, match="must be 'auto' or 'pairwise' or 'thresholds' or 'position', got 'pairs'"):
        NDCGLoss(encoding="pairs")  # type: ignore[arg-type]
    for encoding in ("position", "thresholds"):
        with pytest.raises(InputError, match="leave relevant_from out, or choose encoding='pairwise'"):
            NDCGLoss(encoding=encoding, relevant_from=2)
    with pytest.raises(InputError, match="2\\^grade overflows"):
        NDCGLoss(encoding="position").labels(np.array([0.0, 2000.0]))
    assert NDCGLoss(encoding="position", gain="linear").loss(np.array([0.0, 2000.0]), np.zeros(2)) > 0


@pytest.fixture
def grades() -> tuple[Any, Vector, Any]:
    rng = np.random.default_rng(0)
    X, qid = rng.standard_normal((80, 4)), np.repeat(np.arange(8), 10)
    y = np.clip(np.round(X[:, 0] + 0.5 * rng.standard_normal(80)), 0, 2)
    return X, y, qid


@pytest.mark.parametrize(
    "loss",
    [
        *("ndcg", "ndcg@3", "ndcg@3(encoding=pairwise)", "ndcg@3(encoding=position)", "letor_ndcg", "mrr"),
        *(f"ndcg@3(encoding={encoding},truncated=true)" for encoding in ("thresholds", "pairwise", "position")),
    ],
)
def test_rankers_learn_by_name(grades: Any, loss: str, tmp_path: Path) -> None:
    X, y, qid = grades
    ranker = Ranker(loss, C=10.0, measure="ndcg").fit(X, y, qid=qid)
    assert ranker.result_.converged
    assert ranker.score(X, y, qid=qid) > 0.8
    ranker.save(tmp_path / "m.npz")
    loaded = Ranker.load(tmp_path / "m.npz")
    assert loaded.loss == loss
    assert loaded.loss_ == ranker.loss_
    assert loaded.most_violated(X[:10], y[:10]).hinge == pytest.approx(ranker.most_violated(X[:10], y[:10]).hinge)


def test_a_query_is_seen_in_the_encoding_of_the_training_set(grades: Any, tmp_path: Path) -> None:
    """A binary query among graded ones: alone, it would choose the other encoding."""
    X, y, qid = grades
    y[:10] = np.minimum(y[:10], 1.0)
    ranker = Ranker("ndcg").fit(X, y, qid=qid)
    assert ranker.loss_ == NDCGLoss(encoding="thresholds")
    seen = ranker.most_violated(X[:10], y[:10])
    one = Problem.from_queries(X[:10], y[:10], loss=NDCGLoss(encoding="thresholds"), C=1.0)
    point = one.at(ranker.coef_)
    assert seen.hinge == pytest.approx(one.violation(one.planes(point), point)[0])


def test_labels_must_be_numbers(grades: Any) -> None:
    X, y, qid = grades
    with pytest.raises(InputError, match="the labels y must be numbers for NDCG"):
        Problem.from_queries(X, np.array(["no", "yes"])[(y > 0).astype(int)], qid, loss="ndcg")
    as_objects = Problem.from_queries(X, y.astype(object), qid, loss="ndcg")
    assert as_objects.loss == NDCGLoss(encoding="thresholds")
    assert as_objects.used == Problem.from_queries(X, y, qid, loss="ndcg").used


def test_data_without_a_usable_query_are_explained(grades: Any) -> None:
    X, _, qid = grades
    for loss in ("ndcg", "ndcg@10", "ndcg(encoding=position)"):
        with pytest.raises(
            InputError, match="NDCG cannot learn from any of the 8 queries: each has documents of one kind"
        ):
            Problem.from_queries(X, np.zeros(80), qid, loss=loss)


def test_labels_with_too_many_values_are_errors() -> None:
    labels = np.linspace(0.0, 1.0, 40)
    with pytest.raises(InputError, match="39 different values above 0; NDCG learns from up to 31: round them"):
        NDCGLoss().bind(labels)
    assert NDCGLoss(relevant_from=0.5).bind(labels).encoding == "pairwise"
    assert NDCGLoss().bind(np.arange(32.0)).encoding == "thresholds"
