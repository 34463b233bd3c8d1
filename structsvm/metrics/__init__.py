"""Measures of rankings: average precision, NDCG, precision and recall at k, and the other measures of trec_eval.

A measure is a value, such as ``AP()``, ``NDCG(k=10)`` or ``parse_measure("ndcg@10")``, with ``.mean(scores, labels,
qid)`` and ``.per_query(scores, labels, qid)``. To compute several measures of one ranking, call ``lists =
rank_lists(scores, labels, qid)`` once, then ``measure.of(lists)``.
"""

from structsvm.metrics.at_k import RBP, RR, Judged, P, Recall, Rprec, Success
from structsvm.metrics.average_precision import AP, InfAP, IPrec
from structsvm.metrics.base import BinaryMeasure, Measure, parse_measure
from structsvm.metrics.graded import ERR, NDCG
from structsvm.metrics.pairs import AUC, Bpref, OrderedPairs
from structsvm.metrics.ranking import RankedLists, rank_lists

__all__ = [
    "AP",
    "AUC",
    "ERR",
    "NDCG",
    "RBP",
    "RR",
    "BinaryMeasure",
    "Bpref",
    "IPrec",
    "InfAP",
    "Judged",
    "Measure",
    "OrderedPairs",
    "P",
    "RankedLists",
    "Recall",
    "Rprec",
    "Success",
    "parse_measure",
    "rank_lists",
]
