"""Measures of rankings: average precision, ROC area, NDCG, precision and recall at k, reciprocal rank.

A measure is a value, ``AP()``, ``NDCG(k=10)`` or ``parse_measure("ndcg@10")``, with ``.mean(scores,
labels, qid)`` and ``.per_query(scores, labels, qid)``; the functions in lower case are the means.
Several measures of one ranking: ``lists = rank_lists(scores, labels, qid)`` once, then ``measure.of(lists)``.
"""

from structsvm import moved
from structsvm.metrics.base import Measure, PerQuery, RankedLists, measure_names, parse_measure, rank_lists
from structsvm.metrics.functions import average_precision, ndcg, precision, recall, reciprocal_rank, roc_area
from structsvm.metrics.measures import AP, NDCG, RR, BinaryMeasure, P, Recall, ROCArea
from structsvm.metrics.ranking import Ranking, rank_documents

__all__ = [
    "AP",
    "NDCG",
    "RR",
    "BinaryMeasure",
    "Measure",
    "P",
    "PerQuery",
    "ROCArea",
    "RankedLists",
    "Ranking",
    "Recall",
    "average_precision",
    "measure_names",
    "ndcg",
    "parse_measure",
    "precision",
    "rank_documents",
    "rank_lists",
    "recall",
    "reciprocal_rank",
    "roc_area",
]

__getattr__ = moved.names_of(__name__)
