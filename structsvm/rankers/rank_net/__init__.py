"""RankNet: Burges et al. (2005)."""

from structsvm.rankers.rank_net.estimator import RankNet

__all__ = ["RankNet"]
