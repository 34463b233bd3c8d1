"""The experiment of Yue, Finley, Radlinski and Joachims (SIGIR 2007, sections 4 and 5), on anyone's runs.

``run(load_pool(runs, qrels), Settings(), out)`` trains the models of the paper on the scores of base
functions in 50 trials, and returns `Results`; ``results.rows("with-best")`` is a table. The models
are in `structsvm.protocols`.
"""

from structsvm.protocols.experiment.collection import Collection
from structsvm.protocols.experiment.protocol import run
from structsvm.protocols.experiment.records import count_trials
from structsvm.protocols.experiment.results import (
    WITH_BEST,
    WITHOUT_BEST,
    BaseFunction,
    Fit,
    Query,
    Ranked,
    Results,
    Row,
    Trial,
)
from structsvm.protocols.experiment.settings import Settings
from structsvm.protocols.experiment.splits import Split, balanced_splits
from structsvm.storage.records import Header

__all__ = [
    "WITHOUT_BEST",
    "WITH_BEST",
    "BaseFunction",
    "Collection",
    "Fit",
    "Header",
    "Query",
    "Ranked",
    "Results",
    "Row",
    "Settings",
    "Split",
    "Trial",
    "balanced_splits",
    "count_trials",
    "run",
]
