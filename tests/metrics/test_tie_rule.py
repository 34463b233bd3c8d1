"""Ranking, and the tie rule."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm.exceptions import InputError
from structsvm.metrics.ranking import rank_documents

ROWS = st.lists(st.tuples(st.integers(-2, 2), st.integers(0, 6)), min_size=1, max_size=60)


@given(ROWS)
@settings(deadline=None)
def test_ranks_by_query_in_order_of_appearance_then_score_then_row(rows: list[tuple[int, int]]) -> None:
    scores, qid = (list(column) for column in zip(*rows, strict=True))
    ranking = rank_documents(scores, qid)
    ids = list(dict.fromkeys(qid))
    wanted = sorted(range(len(rows)), key=lambda row: (ids.index(qid[row]), -scores[row], row))
    assert ranking.order.tolist() == wanted
    assert ranking.ids.tolist() == ids
    assert [ids[number] for number in ranking.query] == [qid[row] for row in wanted]
    assert ranking.rank.tolist() == [rank for each in ids for rank in range(1, qid.count(each) + 1)]


@given(st.permutations(range(8)), st.lists(st.integers(0, 1), min_size=8, max_size=8))
@settings(deadline=None)
def test_document_ids_make_the_ranking_independent_of_row_order(rows: list[int], scores: list[int]) -> None:
    doc_ids = np.array([f"D{row}" for row in rows])
    ranking = rank_documents(np.take(scores, rows), doc_ids=doc_ids)
    wanted = sorted(range(8), key=lambda row: (scores[row], row), reverse=True)
    assert doc_ids[ranking.order].tolist() == [f"D{row}" for row in wanted]


def test_infinite_scores_are_ranked() -> None:
    assert rank_documents([-np.inf, 0.0, np.inf, -np.inf, 1.0], [0, 0, 0, 1, 1]).order.tolist() == [2, 1, 0, 4, 3]


def test_input_that_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(InputError, match="scores must not be NaN: 2 of 3 are, first row 1"):
        rank_documents([1.0, np.nan, np.nan])
    with pytest.raises(InputError, match=r"qid must be one query id per row, shape \(2,\), got shape \(3,\)"):
        rank_documents([1.0, 2.0], [1, 1, 1])
    with pytest.raises(InputError, match="doc_ids must have one document id per row"):
        rank_documents([1.0, 2.0], doc_ids=["a"])
    with pytest.raises(InputError, match=r"got shape \(2,\); these look like group sizes: np.repeat"):
        rank_documents(np.zeros(5), [3, 2])
    with pytest.raises(InputError, match="qid must not be NaN or None: 1 of 2 are, first in row 1"):
        rank_documents([2.0, 1.0], ["a", None])
    with pytest.raises(InputError, match=r"qid must be all integers or all strings: .* Convert it, as in \[str"):
        rank_documents([2.0, 1.0], np.array(["a", 1], dtype=object))
    with pytest.raises(InputError, match=r"scores must be a vector .* its shape is \(2, 1\)"):
        rank_documents([[1.0], [2.0]])
    with pytest.raises(InputError, match="its shape is"):
        rank_documents([])
    with pytest.raises(InputError, match="scores must be numbers"):
        rank_documents(["high", "low"])
