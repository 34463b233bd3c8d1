"""Losses: what is optimised, as functions of scores and labels."""

from structsvm.losses.average_precision import AveragePrecision
from structsvm.losses.base import Loss, ScoreLoss
from structsvm.losses.interleaving import InterleavingLoss
from structsvm.losses.multiclass import Multiclass
from structsvm.losses.ndcg import NDCG
from structsvm.losses.pairwise import PairwiseLoss
from structsvm.losses.reciprocal_rank import ReciprocalRank
from structsvm.losses.roc_area import ROCArea
from structsvm.losses.zero_one import ZeroOne

__all__ = [
    "NDCG",
    "AveragePrecision",
    "InterleavingLoss",
    "Loss",
    "Multiclass",
    "PairwiseLoss",
    "ROCArea",
    "ReciprocalRank",
    "ScoreLoss",
    "ZeroOne",
]
