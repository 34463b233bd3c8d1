"""The experiment of Yue, Finley, Radlinski and Joachims (SIGIR 2007, sections 4 and 5), on anyone's runs.

``run(load_pool(runs, qrels), Settings(), out)`` trains the models of the paper on the scores of base
functions in 50 trials, and returns `Results`; ``results.rows("with-best")`` is a table.
"""

from structsvm.experiment.collection import Collection
from structsvm.experiment.feature_maps import FeatureMap, Indicators
from structsvm.experiment.models import (
    Candidate,
    ClassificationSVM,
    Model,
    RankingSVM,
    create_model,
    model_names,
)
from structsvm.experiment.protocol import run
from structsvm.experiment.records import count_trials
from structsvm.experiment.results import (
    WITH_BEST,
    WITHOUT_BEST,
    BaseFunction,
    Fit,
    Header,
    Query,
    Ranked,
    Results,
    Row,
    Trial,
)
from structsvm.experiment.settings import Settings
from structsvm.experiment.significance import Comparison, compare
from structsvm.experiment.splits import Split, balanced_splits

__all__ = [
    "WITHOUT_BEST",
    "WITH_BEST",
    "BaseFunction",
    "Candidate",
    "ClassificationSVM",
    "Collection",
    "Comparison",
    "FeatureMap",
    "Fit",
    "Header",
    "Indicators",
    "Model",
    "Query",
    "Ranked",
    "RankingSVM",
    "Results",
    "Row",
    "Settings",
    "Split",
    "Trial",
    "balanced_splits",
    "compare",
    "count_trials",
    "create_model",
    "model_names",
    "run",
]
