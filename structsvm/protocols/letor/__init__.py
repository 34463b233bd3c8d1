"""LETOR's protocol: models are trained, picked and tested fold by fold, and measured by LETOR's definitions.

``benchmark("MQ2008")`` returns a `Benchmark`; ``summary_table(results)`` is the table of its means.
"""

from structsvm.protocols.letor.catalogue import create_model, installed_model_names, model_names
from structsvm.protocols.letor.fold_files import write_folds
from structsvm.protocols.letor.folds import Fold, find_folds
from structsvm.protocols.letor.protocol import BestFeature, benchmark
from structsvm.protocols.letor.records import count_folds
from structsvm.protocols.letor.results import Benchmark, FoldResults, Outcome, measured
from structsvm.protocols.letor.tables import (
    all_tables,
    difference_table,
    fold_table,
    measure_table,
    record_table,
    summary_table,
    training_table,
    write_tables,
)

__all__ = [
    "Benchmark",
    "BestFeature",
    "Fold",
    "FoldResults",
    "Outcome",
    "all_tables",
    "benchmark",
    "count_folds",
    "create_model",
    "difference_table",
    "find_folds",
    "fold_table",
    "installed_model_names",
    "measure_table",
    "measured",
    "model_names",
    "record_table",
    "summary_table",
    "training_table",
    "write_folds",
    "write_tables",
]
