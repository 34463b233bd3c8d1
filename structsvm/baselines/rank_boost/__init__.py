"""RankBoost: Freund, Iyer, Schapire and Singer (2003)."""

from structsvm.baselines.rank_boost.estimator import RankBoost

__all__ = ["RankBoost"]
