"""Readers of ranking data, and a small data set to try things on."""

from structsvm.data.dataset import RankingData
from structsvm.data.digits import load_digits_queries
from structsvm.data.letor import load_letor

__all__ = ["RankingData", "load_digits_queries", "load_letor"]
