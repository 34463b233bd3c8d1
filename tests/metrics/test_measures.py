"""The measures by hand: settings, ties, empty queries, judgments, weights, errors."""

import math

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.metrics import AP, AUC, NDCG, RR, P, Recall, rank_lists


def test_labels_of_documents_that_were_not_judged_must_be_nan_where_0_is_relevant() -> None:
    scores, qid, judged = [5, 4, 3, 2, 1], [1] * 5, ([1, 0, 0], [1, 1, 1])
    assert Recall(5, relevant_from=0).mean(scores, [1, 0, 0, np.nan, np.nan], qid, judged=judged) == 1.0
    with pytest.raises(InputError, match="query 1 has 3 judged documents, but 5 are ranked as judged"):
        Recall(5, relevant_from=0).mean(scores, [1, 0, 0, 0, 0], qid, judged=judged)


def test_queries_without_relevant_documents_count_zero_or_are_skipped() -> None:
    scores, labels, qid = [2, 1, 2, 1], [1, 0, 0, 0], [7, 7, 5, 5]
    for measure in (AP(), AUC(), NDCG(), P(1), RR()):
        assert measure.mean(scores, labels, qid) == 0.5
        ids, values = measure.per_query(scores, labels, qid)
        assert (ids.tolist(), values.tolist()) == ([7, 5], [1.0, 0.0])
    for measure in (AP(empty="skip"), AUC(empty="skip"), NDCG(empty="skip"), P(1, empty="skip"), RR(empty="skip")):
        assert measure.mean(scores, labels, qid) == 1.0
        assert measure.per_query(scores, labels, qid).ids.tolist() == [7]


def test_roc_area_is_undefined_for_a_query_of_relevant_documents_only() -> None:
    assert AUC(empty="skip").per_query([1, 2, 1], [1, 1, 0], [0, 1, 1]).ids.tolist() == [1]


def test_skipping_every_query_is_an_error() -> None:
    with pytest.raises(InputError, match=r"map\(empty=skip\) has no mean.*empty='zero'"):
        AP(empty="skip").mean([1, 2], [0, 0])


def test_relevant_from_is_the_smallest_relevant_label() -> None:
    assert P(1).mean([3, 2, 1], [1, 2, 0]) == 1.0
    assert P(1, relevant_from=2).mean([3, 2, 1], [1, 2, 0]) == 0.0
    assert RR(relevant_from=0).mean([3, 2, 1], [-1, 0, 1]) == 0.5


def test_recall_counts_relevant_documents_that_are_not_ranked() -> None:
    assert Recall(2).mean([3, 2, 1], [1, 0, 1]) == 0.5
    assert Recall(1, relevant_from=2).mean([3, 2, 1], [1, 2, 0]) == 0.0
    assert Recall(5).mean([2, 1], [1, 1]) == 1.0
    assert Recall(2).mean([2.0, 1.0], [1, 0], judged=([1, 1, 1, 0], [0, 0, 0, 0])) == pytest.approx(1 / 3)
    assert Recall(1).mean([1.0], [0]) == 0.0


def test_precision_divides_by_k_however_few_documents_there_are() -> None:
    assert P(5).mean([2, 1], [1, 1]) == 0.4


def test_judged_documents_that_are_not_ranked_count_in_the_denominators() -> None:
    scores, labels, topic = [2, 1, 1], [1, 0, 0], ["x", "x", "y"]
    judged = ([1, 0, 1, 1, 1], ["x", "x", "x", "y", "z"])
    assert AP().per_query(scores, labels, topic, judged=judged).values.tolist() == [0.5, 0.0]
    ideal = 1 + 1 / math.log2(3)
    assert NDCG().per_query(scores, labels, topic, judged=judged).values.tolist() == pytest.approx([1 / ideal, 0.0])
    for measure in (AP(empty="skip"), RR(empty="skip"), P(1, empty="skip"), NDCG(empty="skip")):
        assert measure.per_query(scores, labels, topic, judged=judged).ids.tolist() == ["x", "y"]
    assert AUC().per_query(scores, labels, topic, judged=judged).values.tolist() == [1.0, 0.0]


def test_judgments_of_other_queries_are_an_error() -> None:
    with pytest.raises(InputError, match="no ranked query is judged: ranked are 301, judged 401, 402"):
        AP().mean([1.0], [1], [301], judged=([1, 0], [401, 402]))


def test_grades_below_zero_gain_nothing() -> None:
    assert NDCG().mean([3, 2, 1], [-1, 2, 1]) == NDCG().mean([3, 2, 1], [0, 2, 1])


def test_grades_that_overflow_are_refused() -> None:
    assert NDCG(gain="linear").mean([1, 2], [0, 2000]) == 1.0
    with pytest.raises(InputError, match="gain='linear'"):
        NDCG().mean([1, 2], [0, 2000])


def test_mean_takes_weights_by_query_id_or_in_order_of_appearance() -> None:
    scores, labels, qid = [2, 1, 2, 1], [1, 0, 0, 1], ["b", "b", "a", "a"]
    assert RR().mean(scores, labels, qid, weights=[3, 1]) == 0.875
    assert RR().mean(scores, labels, qid, weights={"a": 1, "b": 3, "c": 9}) == 0.875
    assert AP(empty="skip").mean(scores, [1, 0, 0, 0], qid, weights=[3, 1]) == 1.0


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 weights, 2 queries"),
        ([1.0, -1.0], "not negative"),
        ([0.0, 0.0], "no mean"),
        ({"a": 1.0}, r"no entry for 1 query, such as 'b'"),
    ],
)
def test_weights_that_do_not_fit_are_refused(weights: dict[str, float] | list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AP().mean([1, 2], [1, 1], ["a", "b"], weights=weights)


def test_one_ranking_serves_several_measures() -> None:
    lists = rank_lists([3, 2, 1], [0, 1, 1], ["q", "q", "q"])
    assert RR().of(lists).values.tolist() == [0.5]
    assert P(1).of(lists).values.tolist() == [0.0]


def test_labels_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(InputError, match="3 scores and 2 labels"):
        AP().mean([1, 2, 3], [1, 0])
    with pytest.raises(InputError, match="labels must not be NaN: 1 of 2 are, first row 1"):
        AP().mean([1, 2], [1, np.nan])
    with pytest.raises(InputError, match="labels must be finite: row 0"):
        NDCG().mean([1, 2], [np.inf, 0])


@pytest.mark.parametrize("k", [0, -1, 2.5, True])
def test_cutoffs_are_whole_numbers_from_one(k: int) -> None:
    with pytest.raises(InputError, match=r"\(k=...\) must be an integer of at least 1"):
        NDCG(k)
    with pytest.raises(InputError, match=r"\(k=...\) must be an integer of at least 1"):
        P(k).mean([1, 2], [1, 0])


def test_settings_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="must be 'standard' or 'letor', got 'log'"):
        NDCG(discount="log")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="must be 'zero' or 'skip'"):
        AP(empty="one")  # type: ignore[arg-type]


def test_relevance_starts_at_a_finite_number():
    with pytest.raises(InputError, match=r"AP\(relevant_from=...\) must be a finite number, got nan"):
        AP(relevant_from=math.nan)
