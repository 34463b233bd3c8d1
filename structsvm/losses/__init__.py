"""Losses: what is optimised, as functions of scores and labels."""

from structsvm.losses.average_precision import AveragePrecision
from structsvm.losses.base import Loss, ScoreLoss
from structsvm.losses.chain_hamming import ChainHamming
from structsvm.losses.multiclass import Multiclass
from structsvm.losses.pairwise import PairwiseLoss
from structsvm.losses.roc_area import ROCArea
from structsvm.losses.zero_one import ZeroOne

__all__ = ["AveragePrecision", "ChainHamming", "Loss", "Multiclass", "PairwiseLoss", "ROCArea", "ScoreLoss", "ZeroOne"]
