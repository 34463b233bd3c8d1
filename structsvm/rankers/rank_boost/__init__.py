"""RankBoost: Freund, Iyer, Schapire and Singer (2003)."""

from structsvm.rankers.rank_boost.estimator import RankBoost

__all__ = ["RankBoost"]
