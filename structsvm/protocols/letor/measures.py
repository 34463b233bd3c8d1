"""The measures of a benchmark, by the definitions of LETOR's evaluation tools."""

import numpy as np

from structsvm.foundation.types import IntVector, Vector
from structsvm.metrics import AP, NDCG, Measure, P, rank_lists
from structsvm.registry import measures

CUTOFFS = range(1, 11)

SHOWN = ("map", *(f"{name}@{k}" for name in ("p", "ndcg") for k in (1, 5, 10)))
"""Measures of the summary. Results have their values for each query, so that means have intervals."""

_REPORTED = {f"ndcg@{k}": NDCG(k, discount="letor") for k in CUTOFFS}
"""NDCG with the discounts of LETOR's tools, by its name in tables."""


def as_reported(measure: Measure) -> Measure:
    """Return a measure as LETOR reports it: NDCG at 1 to 10 uses LETOR's discounts and has its plain name."""
    return _REPORTED.get(str(measure), measure)


def name_of(measure: Measure) -> str:
    """Return the name of a measure in results."""
    return next((name for name, reported in _REPORTED.items() if measure == reported), str(measure))


def value_range_of(name: str) -> tuple[float, float]:
    """Return the range of a measure, given its name in results."""
    measure: Measure = _REPORTED.get(name) or measures.create(name)
    return measure.value_range


def letor_values(scores: Vector, y: Vector, qid: IntVector) -> dict[str, Vector]:
    """Return LETOR's measures of each query by name; in ``ndcg4@k``, a query of fewer than k documents counts as 0."""
    lists = rank_lists(scores, y, qid)
    documents = np.bincount(lists.query, minlength=len(lists.ids))
    ndcg = {k: _REPORTED[f"ndcg@{k}"].of(lists).values for k in CUTOFFS}
    return {
        "map": AP().of(lists).values,
        **{f"p@{k}": P(k).of(lists).values for k in CUTOFFS},
        **{f"ndcg@{k}": ndcg[k] for k in CUTOFFS},
        **{f"ndcg4@{k}": ndcg[k] * (documents >= k) for k in CUTOFFS},
    }
