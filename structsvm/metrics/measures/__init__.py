"""The measures, one file each. `structsvm.metrics.parse_measure` makes them from text."""

from structsvm.metrics.measures.average_precision import AP
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.metrics.measures.bpref import BPref
from structsvm.metrics.measures.counts import NumQ, NumRel, NumRelRet, NumRet
from structsvm.metrics.measures.expected_reciprocal_rank import ERR
from structsvm.metrics.measures.geometric import GMAP
from structsvm.metrics.measures.inferred_precision import InfAP
from structsvm.metrics.measures.interpolated_precision import ElevenPoint, IPrec
from structsvm.metrics.measures.judged import JudgedShare
from structsvm.metrics.measures.ndcg import NDCG
from structsvm.metrics.measures.precision import P
from structsvm.metrics.measures.r_precision import RPrec
from structsvm.metrics.measures.rank_biased_precision import RBP
from structsvm.metrics.measures.recall import Recall
from structsvm.metrics.measures.reciprocal_rank import RR
from structsvm.metrics.measures.roc_area import ROCArea
from structsvm.metrics.measures.sets import SetF, SetMAP, SetP, SetRecall
from structsvm.metrics.measures.success import Success

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
    "NumQ",
    "NumRel",
    "NumRelRet",
    "NumRet",
    "P",
    "ROCArea",
    "RPrec",
    "Recall",
    "SetF",
    "SetMAP",
    "SetP",
    "SetRecall",
    "Success",
]
