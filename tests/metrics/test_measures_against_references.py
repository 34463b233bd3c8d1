"""The measures against naive implementations and against scikit-learn."""

from collections.abc import Callable, Sequence
from functools import partial
from math import isnan, log2, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import ndcg_score

from structsvm.losses import SwappedPairs
from structsvm.metrics import AP, AUC, NDCG, RR, Measure, OrderedPairs, P, Recall


def naive_average_precision(labels: Sequence[float]) -> float:
    at = [rank for rank, label in enumerate(labels, 1) if label > 0]
    return sum(hits / rank for hits, rank in enumerate(at, 1)) / len(at) if at else nan


def naive_roc_area(labels: Sequence[float]) -> float:
    pairs = [
        i < j for i, good in enumerate(labels) if good > 0 for j, bad in enumerate(labels) if bad <= 0
    ]  # fmt: skip
    return sum(pairs) / len(pairs) if pairs else nan


def naive_ordered_pairs(labels: Sequence[float]) -> float:
    pairs = [a > b for i, a in enumerate(labels) for b in labels[i + 1 :] if a != b]
    return sum(pairs) / len(pairs) if pairs else nan


def naive_precision(labels: Sequence[float], k: int) -> float:
    return sum(label > 0 for label in labels[:k]) / k if any(label > 0 for label in labels) else nan


def naive_recall(labels: Sequence[float], k: int) -> float:
    relevant = sum(label > 0 for label in labels)
    return sum(label > 0 for label in labels[:k]) / relevant if relevant else nan


def naive_reciprocal_rank(labels: Sequence[float]) -> float:
    return next((1 / rank for rank, label in enumerate(labels, 1) if label > 0), nan)


def naive_ndcg(labels: Sequence[float], k: int | None, discount: Callable[[int], float], exponential: bool) -> float:
    def dcg(grades: Sequence[float]) -> float:
        gains = [2**grade - 1 if exponential else grade for grade in grades]
        return sum(gain * discount(rank) for rank, gain in enumerate(gains[:k], 1))

    ideal = dcg(sorted(labels, reverse=True))
    return dcg(labels) / ideal if ideal else nan


def standard(rank: int) -> float:
    return 1 / log2(1 + rank)


def letor(rank: int) -> float:
    return 1.0 if rank <= 2 else 1 / log2(rank)


NAIVE: list[tuple[Measure, Callable[[Sequence[float]], float]]] = [
    (AP(), naive_average_precision),
    (AUC(), naive_roc_area),
    (OrderedPairs(), naive_ordered_pairs),
    (P(1), partial(naive_precision, k=1)),
    (P(3), partial(naive_precision, k=3)),
    (Recall(1), partial(naive_recall, k=1)),
    (Recall(3), partial(naive_recall, k=3)),
    (RR(), naive_reciprocal_rank),
    (NDCG(), partial(naive_ndcg, k=None, discount=standard, exponential=True)),
    (NDCG(3), partial(naive_ndcg, k=3, discount=standard, exponential=True)),
    (NDCG(3, gain="linear"), partial(naive_ndcg, k=3, discount=standard, exponential=False)),
    (NDCG(discount="letor"), partial(naive_ndcg, k=None, discount=letor, exponential=True)),
    (NDCG(2, discount="letor"), partial(naive_ndcg, k=2, discount=letor, exponential=True)),
]
ROW = st.tuples(st.integers(-2, 2), st.integers(0, 3), st.sampled_from(["a", "b", "c", "d"]))
ROWS = st.lists(ROW, min_size=1, max_size=25)


@pytest.mark.parametrize(("measure", "of_list"), NAIVE, ids=lambda case: str(case) if isinstance(case, Measure) else "")
@given(rows=ROWS)
def test_agrees_with_naive_measure_of_each_query_with_ties(
    measure: Measure, of_list: Callable[[Sequence[float]], float], rows: list[tuple[int, int, str]]
) -> None:
    scores, labels, qid = (list(column) for column in zip(*rows, strict=True))
    ids, values = measure.per_query(scores, labels, qid, ties="input")
    assert ids.tolist() == list(dict.fromkeys(qid))
    for each, value in zip(ids, values, strict=True):
        ranked = sorted((row for row in rows if row[2] == each), key=lambda row: -row[0])
        wanted = of_list([label for _, label, _ in ranked])
        assert value == pytest.approx(0.0 if isnan(wanted) else wanted, abs=1e-12)
    assert measure.mean(scores, labels, qid, ties="input") == pytest.approx(values.mean(), abs=1e-12)


@given(st.permutations(range(9)), st.lists(st.integers(-1, 4), min_size=9, max_size=9))
def test_ordered_pairs_are_one_minus_the_loss_of_ranking_svms(scores: list[int], grades: list[int]) -> None:
    loss = SwappedPairs()
    assume(loss.usable(grades))
    ranking = np.asarray(scores, dtype=float)
    assert OrderedPairs().mean(scores, grades) == pytest.approx(1.0 - loss.loss(np.asarray(grades, float), ranking))


@given(st.permutations(range(9)), st.lists(st.integers(0, 4), min_size=9, max_size=9))
def test_graded_ndcg_agrees_with_scikit_learn(order: list[int], grades: list[int]) -> None:
    assert NDCG(gain="linear").mean(order, grades) == pytest.approx(ndcg_score([grades], [order]))
    gains = [2**grade - 1 for grade in grades]
    assert NDCG().mean(order, grades) == pytest.approx(ndcg_score([gains], [order]))
