"""LETOR's protocol: train, tune and test models fold by fold, and measure them by LETOR's definitions."""

from structsvm.protocols.letor.folds import Fold, write_folds
from structsvm.protocols.letor.plan import benchmark
from structsvm.protocols.letor.tables import fold_table, write_tables

__all__ = ["Fold", "benchmark", "fold_table", "write_folds", "write_tables"]
