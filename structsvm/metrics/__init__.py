"""Measures of rankings: average precision, NDCG, precision and recall at k, and the others of trec_eval.

A measure is a value, ``AP()``, ``NDCG(k=10)`` or ``parse_measure("ndcg@10")``, with ``.mean(scores,
labels, qid)`` and ``.per_query(scores, labels, qid)``; the functions in lower case are the means.
Several measures of one ranking: ``lists = rank_lists(scores, labels, qid)`` once, then ``measure.of(lists)``.
"""

from structsvm import moved
from structsvm.metrics.base import Measure, PerQuery, RankedLists, measure_names, parse_measure, rank_lists
from structsvm.metrics.functions import average_precision, ndcg, precision, recall, reciprocal_rank, roc_area
from structsvm.metrics.measures import (
    AP,
    ERR,
    GMAP,
    NDCG,
    RBP,
    RR,
    BinaryMeasure,
    BPref,
    ElevenPoint,
    InfAP,
    IPrec,
    JudgedShare,
    NumQ,
    NumRel,
    NumRelRet,
    NumRet,
    P,
    Recall,
    ROCArea,
    RPrec,
    SetF,
    SetMAP,
    SetP,
    SetRecall,
    Success,
)
from structsvm.metrics.ranking import Ranking, rank_documents

__all__ = [
    "AP",
    "ERR",
    "GMAP",
    "NDCG",
    "RBP",
    "RR",
    "BPref",
    "BinaryMeasure",
    "ElevenPoint",
    "IPrec",
    "InfAP",
    "JudgedShare",
    "Measure",
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "PerQuery",
    "ROCArea",
    "RPrec",
    "RankedLists",
    "Ranking",
    "Recall",
    "SetF",
    "SetMAP",
    "SetP",
    "SetRecall",
    "Success",
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
