"""The models of experiments and benchmarks by name, and their grids."""

from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import as_list
from structsvm.protocols.estimator_model import EstimatorModel
from structsvm.protocols.feature_maps import AsGiven, FeatureMap, Indicators, Scores
from structsvm.protocols.model import ProtocolModel
from structsvm.protocols.svm_models import ClassificationSVM, RankingSVM
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, TreeRanker, WeightSearch
from structsvm.rankers.tree_ranker import CS, SAMPLED
from structsvm.registry import Registry, fusions
from structsvm.registry.built_in import experiment_models

EXTRAS = {"LambdaMART": "lightgbm", "SVM-map-trees": "lightgbm"}
"""Models that need the package of the extra ``lambdamart``."""

_MOST_EPOCHS, _MOST_ROUNDS = 100, 300
_ENTROPY_CS = (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)


def other_system(
    name: str,
    *,
    features: FeatureMap,
    every: int,
    tol: float,
    pairs_Cs: Sequence[float],
    queries_Cs: Sequence[float],
) -> ProtocolModel:
    """Return a ranker or fusion with the features and grids of one protocol, or raise NotInstalledError."""
    _require_package(name)
    dense = AsGiven(dense=True)
    rounds, epochs = range(every, _MOST_ROUNDS + 1, every), range(every, _MOST_EPOCHS + 1, every)
    match name:
        case "RankSVM" | "RankSVM-queries":
            objective, Cs = ("pairs", pairs_Cs) if name == "RankSVM" else ("queries", queries_Cs)
            svm = RankSVM(objective=objective, tol=tol)
            return EstimatorModel(name=name, features=features, estimator=svm, grid={"C": Cs})
        case "RankBoost":
            return EstimatorModel(name=name, features=dense, estimator=RankBoost(max(rounds)), rounds=rounds)
        case "RankNet" | "RankNet-linear":
            net = RankNet(10 if name == "RankNet" else 0, max_iter=max(epochs), random_state=0)
            accepted = dense if features == AsGiven() else features
            return EstimatorModel(name=name, features=accepted, estimator=net, rounds=epochs)
        case "MaximumEntropy":
            return EstimatorModel(name=name, features=features, estimator=MaximumEntropy(), grid={"C": _ENTROPY_CS})
        case "WeightSearch":
            return EstimatorModel(name=name, features=features, estimator=WeightSearch())
        case "LambdaMART":
            settings = {"num_threads": 1, **SAMPLED}
            trees = LambdaMART(max(rounds), learning_rate=0.05, random_state=0, params=settings)
            grid = {"num_leaves": (4, 8, 16)}
            return EstimatorModel(name=name, features=AsGiven(), estimator=trees, rounds=rounds, grid=grid)
    return EstimatorModel(name=name, features=dense, estimator=fusions.create(name))


def _decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{exponent}") for exponent in range(low, high + 1))


def _half_decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(10.0 ** (k / 2) for k in range(2 * low, 2 * high + 1))


# The grids of experiments contain the values that validation chooses, and some values on both sides. Below some C,
# rankings do not change, because all documents are within the margin and w is C times a fixed vector. Above 1e5, the
# rankings of plain classifiers hardly change.
_RANKING_CS, _PLAIN_CS, _BALANCED_CS = _decades(-4, 2), _decades(0, 5), _decades(-3, 3)
_PAPER_LOSSES = {"SVM-map": "map", "SVM-roc": "roc_area"}
_PAPER_SCALINGS = {
    "SVM-acc": None,
    "SVM-acc2": None,
    "SVM-acc3": "query-percentiles",
    "SVM-acc4": "query-min-max",
}
_POOL_PAIRS_CS, _POOL_QUERIES_CS = _decades(-7, 0), _decades(-2, 4)

PAPER_MODELS = tuple(
    name for name in experiment_models.built_in if name.partition("+")[0] in {*_PAPER_LOSSES, *_PAPER_SCALINGS}
)
"""Names of the models of the paper, in the order of its tables."""


def experiment_model(name: str, bins: int = 50) -> ProtocolModel:
    """Return the model of an experiment with a registered name; models of the paper use `bins`."""
    kind, _, intercept = name.partition("+")
    if kind in _PAPER_LOSSES:
        return RankingSVM(name=name, features=Indicators(bins), loss=_PAPER_LOSSES[kind], Cs=_RANKING_CS)
    if kind not in _PAPER_SCALINGS:
        # A query of a pool has up to a million pairs, so 1e-3 of them is precise enough.
        return other_system(
            name, features=Scores(), every=10, tol=1e-3, pairs_Cs=_POOL_PAIRS_CS, queries_Cs=_POOL_QUERIES_CS
        )
    balanced = kind == "SVM-acc2"
    return ClassificationSVM(
        name=name,
        features=Indicators(bins, _PAPER_SCALINGS[kind]),
        Cs=_BALANCED_CS if balanced else _PLAIN_CS,
        balanced=balanced,
        fit_intercept=bool(intercept),
    )


# The grids of benchmarks contain the values that validation chooses on MQ2008, and some values on both sides. Training
# is so precise that a smaller tol changes no number of a table by 0.0002, so that tables compare objectives.
_TOL, _BINNED_TOL = 1e-5, 1e-6
_LINEAR_CS, _BINNED_CS = _half_decades(-2, 6), _half_decades(-4, 2)
_LETOR_LOSSES = {"SVM-map": "map", "SVM-roc": "roc_area", "SVM-ndcg": "ndcg"}
_PAIRS_CS, _QUERIES_CS = _half_decades(-3, 2), _half_decades(-1, 5)


def benchmark_model(name: str) -> ProtocolModel:
    """Return the model with a name in `structsvm.registry.benchmark_models`."""
    if name in _LETOR_LOSSES:
        return RankingSVM(name=name, features=AsGiven(), loss=_LETOR_LOSSES[name], Cs=_LINEAR_CS, tol=_TOL)
    if name == "SVM-map-bins":
        return RankingSVM(name=name, features=Indicators(10), loss="map", Cs=_BINNED_CS, tol=_BINNED_TOL)
    if name == "SVM-map-trees":
        _require_package(name)
        trees = TreeRanker(trees="lightgbm", random_state=0, n_jobs=1)
        return RankingSVM(name=name, features=AsGiven(), loss="map", Cs=CS, tol=_BINNED_TOL, ranker=trees)
    return other_system(name, features=AsGiven(), every=1, tol=_TOL, pairs_Cs=_PAIRS_CS, queries_Cs=_QUERIES_CS)


def as_models(models: Any, registry: Registry[Any], **settings: Any) -> tuple[ProtocolModel, ...]:
    """Return one or several models, or names in a registry, as models; raise InputError for other objects."""
    one = isinstance(models, str | ProtocolModel) or not isinstance(models, Iterable)
    objects = []
    for position, model in enumerate((models,) if one else as_list("models", models, "models or names")):
        if isinstance(model, type) and issubclass(model, ProtocolModel):
            raise InputError(
                f"models[{position}] must be an object, {model.__name__}(...); {model.__name__} is a class"
            )
        if not isinstance(model, str | ProtocolModel):
            raise InputError(
                f"models[{position}] is neither a name nor a model: {model!r}. Wrap an estimator in "
                "EstimatorModel(name=..., features=AsGiven(), estimator=...), of structsvm.protocols"
            )
        objects.append(registry.create(model, **settings) if isinstance(model, str) else model)
    return tuple(objects)


def needed_package(model: str) -> str:
    """Return the unusable package that the named model needs; "" if it needs no package."""
    try:
        _require_package(model)
    except NotInstalledError:
        return EXTRAS[model]
    return ""


def _require_package(model: str) -> None:
    """Raise NotInstalledError if a model's package is unusable."""
    if model in EXTRAS:
        with needed(f"the model {model} needs {EXTRAS[model]}", "lambdamart"):
            import_module(EXTRAS[model])
