"""Rows grouped by query."""

import numpy as np
import pytest

from structsvm.foundation.queries import Queries


def test_query_ids_are_of_any_kind_and_need_not_be_contiguous() -> None:
    queries = Queries.of(["b", "a", "b", "c"], 4)
    assert queries.ids.tolist() == ["b", "a", "c"]
    assert queries.number.tolist() == [0, 1, 0, 2]
    assert Queries.of(None, 2).number.tolist() == [0, 0]


def test_rows_are_grouped_in_the_order_in_which_queries_appear():
    groups = Queries.of(["b", "a", "b", "c"], 4)
    assert groups.ids.tolist() == ["b", "a", "c"]
    assert groups.order.tolist() == [0, 2, 1, 3]
    assert groups.ptr.tolist() == [0, 2, 3, 4]
    assert not groups.together
    rows = np.array(["first", "second", "third", "fourth"])
    assert groups.grouped(rows).tolist() == ["first", "third", "second", "fourth"]
    assert groups.ungrouped(groups.grouped(rows)).tolist() == rows.tolist()
    together = Queries.of([5, 5, 2], 3)
    assert (together.ids.tolist(), together.ptr.tolist(), together.together) == ([5, 2], [0, 2, 3], True)
    alone = Queries.of(None, 2)
    assert (alone.order.tolist(), alone.ptr.tolist(), alone.together) == ([0, 1], [0, 2], True)
    assert alone.ungrouped(rows) is alone.grouped(rows) is rows


@pytest.mark.parametrize("qid", [[3, 3, 1, 1, 1], [3, 1, 3, 1, 1]], ids=["together", "apart"])
def test_rows_are_split_by_query(qid: list[int]) -> None:
    queries, rows = Queries.of(qid, 5), np.arange(5.0)
    parts = queries.split(rows)
    assert [part.tolist() for part in parts] == [[i for i in range(5) if qid[i] == query] for query in (3, 1)]
    assert np.shares_memory(parts[0], rows) == queries.together


def test_queries_of_sizes_are_those_of_the_rows():
    queries, expected = Queries.of_sizes(np.array([2, 1, 3]), ["b", "a", "c"]), Queries.of([*"bba", *"ccc"], 6)
    for name in ("ids", "number", "order", "ptr", "together", "sizes"):
        np.testing.assert_array_equal(getattr(queries, name), getattr(expected, name))
    assert Queries.of_sizes(np.array([2, 1])).ids.tolist() == [0, 1]


def test_the_rows_of_some_queries():
    queries = Queries.of(["b", "a", "b", "c"], 4)
    assert queries.rows([2, 0]).tolist() == [3, 0, 2]
