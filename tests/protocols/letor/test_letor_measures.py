"""The measures against LETOR's definitions, position by position in plain Python."""

from itertools import permutations
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.protocols.letor.conftest import means


def literal(scores, y, qid):
    """Cumulate down each ranking, as an evaluation script does: places after the last document have grade 0."""
    totals: dict[str, float] = {}
    queries = sorted(set(qid))
    for query in queries:
        rows = [row for row in range(len(y)) if qid[row] == query]
        ranked = [int(y[row]) for row in sorted(rows, key=lambda row: -scores[row])]
        relevant, dcg, ideal, precisions = 0, 0.0, 0.0, []
        best = sorted(ranked, reverse=True)
        for place in range(max(10, len(ranked))):
            grade = ranked[place] if place < len(ranked) else 0
            ideal_grade = best[place] if place < len(ranked) else 0
            weight = 1.0 if place < 2 else 1.0 / log2(place + 1)
            dcg += (2**grade - 1) * weight
            ideal += (2**ideal_grade - 1) * weight
            if grade > 0:
                relevant += 1
                precisions.append(relevant / (place + 1))
            if place < 10:
                ndcg = dcg / ideal if ideal > 0 else 0.0
                for name, value in (
                    (f"p@{place + 1}", relevant / (place + 1)),
                    (f"ndcg@{place + 1}", ndcg),
                    (f"ndcg4@{place + 1}", ndcg if place < len(ranked) else 0.0),
                ):
                    totals[name] = totals.get(name, 0.0) + value
        totals["map"] = totals.get("map", 0.0) + (sum(precisions) / relevant if relevant else 0.0)
    return {name: value / len(queries) for name, value in totals.items()}


def lists_of_rows(scores, **options):
    return st.lists(st.tuples(scores, st.integers(0, 2), st.integers(0, 3)), min_size=1, **options)


@given(lists_of_rows(st.integers(0, 99), max_size=40, unique_by=lambda row: row[0]))
def test_measures_equal_those_of_a_literal_script(rows):
    """With queries without a relevant document, and queries of fewer than ten documents."""
    scores, y, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    assert means(scores, y, qid.astype(int)) == pytest.approx(literal(scores, y, qid), abs=1e-12)


@given(lists_of_rows(st.integers(0, 1), max_size=5))
def test_with_ties_they_are_means_of_a_literal_script_over_all_orders(rows):
    scores, y, qid = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    orders = [literal(*zip(*order, strict=True)) for order in permutations(rows)]
    expected = {name: np.mean([values[name] for values in orders]) for name in orders[0]}
    assert means(scores, y, qid.astype(int)) == pytest.approx(expected, abs=1e-12)
