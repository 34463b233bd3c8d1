"""Losses to train with, as functions of scores and labels."""

from structsvm.inference.sets import Bounded
from structsvm.losses.at_k import PrecisionAtK, RecallAtK
from structsvm.losses.average_precision import AveragePrecision
from structsvm.losses.base import Loss, ScoreLoss
from structsvm.losses.chain_hamming import ChainHamming
from structsvm.losses.f_beta import FBeta
from structsvm.losses.graph_hamming import GraphHamming
from structsvm.losses.latent import LatentLoss
from structsvm.losses.multiclass import Multiclass
from structsvm.losses.multilabel_hamming import MultiLabelHamming
from structsvm.losses.ndcg import NDCGLoss
from structsvm.losses.part_hamming import PartHamming
from structsvm.losses.precision_recall_break_even import PrecisionRecallBreakEven
from structsvm.losses.preference_pairs import PreferencePairs
from structsvm.losses.reciprocal_rank import ReciprocalRank
from structsvm.losses.regret import Regret
from structsvm.losses.roc_area import ROCArea
from structsvm.losses.shared.graded_pairs import GradedPairsLoss, GradedRankingLoss
from structsvm.losses.shared.interleaving import InterleavingLoss
from structsvm.losses.shared.pairs import JudgedPairs
from structsvm.losses.shared.relevance import PairwiseLoss
from structsvm.losses.slack_rescaled import SlackRescaled
from structsvm.losses.swapped_pairs import SwappedPairs
from structsvm.losses.weighted_ranks import WeightedRanks
from structsvm.losses.zero_one import ZeroOne

__all__ = [
    "AveragePrecision",
    "Bounded",
    "ChainHamming",
    "FBeta",
    "GradedPairsLoss",
    "GradedRankingLoss",
    "GraphHamming",
    "InterleavingLoss",
    "JudgedPairs",
    "LatentLoss",
    "Loss",
    "MultiLabelHamming",
    "Multiclass",
    "NDCGLoss",
    "PairwiseLoss",
    "PartHamming",
    "PrecisionAtK",
    "PrecisionRecallBreakEven",
    "PreferencePairs",
    "ROCArea",
    "RecallAtK",
    "ReciprocalRank",
    "Regret",
    "ScoreLoss",
    "SlackRescaled",
    "SwappedPairs",
    "WeightedRanks",
    "ZeroOne",
]
