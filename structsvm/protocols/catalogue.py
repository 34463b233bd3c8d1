"""The models of experiments and benchmarks by name, and their grids."""

from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from attrs import frozen

from structsvm.exceptions import InputError, NotInstalledError
from structsvm.foundation.settings import as_list, require_kind
from structsvm.protocols.estimator_model import EstimatorModel, StagedModel
from structsvm.protocols.feature_maps import AsGiven, FeatureMap, Indicators, Scores
from structsvm.protocols.model import ProtocolModel
from structsvm.protocols.svm_models import ClassificationSVM, RankingSVM
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, WeightSearch
from structsvm.registry import Registry, fusions
from structsvm.registry.built_in import experiment_models

EXTRAS = {"LambdaMART": "lightgbm"}
"""Models that need a package of an extra."""

LIGHTGBM_SAMPLING = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.6}
"""Row and column sampling of LightGBM in comparisons: its defaults sample nothing and test worse on MQ2008."""

_MOST_EPOCHS, _MOST_ROUNDS = 100, 300
_ENTROPY_CS = (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)


@frozen(kw_only=True)
class Systems:
    """The other systems with the features and grids of one protocol.

    Rankers read ``features``; fusion, RankBoost and LambdaMART read features as given, with missing values. ``every``
    is the number of rounds, trees or epochs between candidates, ``tol`` the gap of the ranking SVM as a share of the
    pairs, and ``pairs_Cs`` and ``queries_Cs`` are ascending values of C for its two objectives.
    """

    features: FeatureMap
    every: int
    tol: float
    pairs_Cs: Sequence[float]
    queries_Cs: Sequence[float]

    def make(self, name: str) -> ProtocolModel:
        """Return the system with a name in the registries; raise NotInstalledError if its package is unusable."""
        if name in _RANKERS:
            require_installed(name)
            return _RANKERS[name](self, name)
        return EstimatorModel(name=name, features=AsGiven(dense=True), estimator=fusions.create(name))

    @property
    def dense(self) -> FeatureMap:
        """The features for rankers that do not accept sparse ones."""
        return AsGiven(dense=True) if self.features == AsGiven() else self.features

    @property
    def rounds(self) -> range:
        """Numbers of rounds to choose from."""
        return range(self.every, _MOST_ROUNDS + 1, self.every)

    def _rank_svm(self, name: str) -> ProtocolModel:
        queries = name == "RankSVM-queries"
        estimator = RankSVM(objective="queries" if queries else "pairs", tol=self.tol)
        grid = {"C": self.queries_Cs if queries else self.pairs_Cs}
        return EstimatorModel(name=name, features=self.features, estimator=estimator, grid=grid)

    def _rank_boost(self, name: str) -> ProtocolModel:
        estimator = RankBoost(max(self.rounds))
        return StagedModel(name=name, features=AsGiven(dense=True), estimator=estimator, rounds=self.rounds)

    def _rank_net(self, name: str) -> ProtocolModel:
        epochs = range(self.every, _MOST_EPOCHS + 1, self.every)
        hidden = 0 if name == "RankNet-linear" else 10
        estimator = RankNet(hidden, max_iter=max(epochs), random_state=0)
        return StagedModel(name=name, features=self.dense, estimator=estimator, rounds=epochs)

    def _maximum_entropy(self, name: str) -> ProtocolModel:
        grid = {"C": _ENTROPY_CS}
        return EstimatorModel(name=name, features=self.features, estimator=MaximumEntropy(), grid=grid)

    def _weight_search(self, name: str) -> ProtocolModel:
        return EstimatorModel(name=name, features=self.features, estimator=WeightSearch())

    def _lambda_mart(self, name: str) -> ProtocolModel:
        settings = {"num_threads": 1, **LIGHTGBM_SAMPLING}
        estimator = LambdaMART(max(self.rounds), learning_rate=0.05, random_state=0, params=settings)
        grid = {"num_leaves": (4, 8, 16)}
        return StagedModel(name=name, features=AsGiven(), estimator=estimator, rounds=self.rounds, grid=grid)


_RANKERS: dict[str, Callable[[Systems, str], ProtocolModel]] = {
    "RankSVM": Systems._rank_svm,
    "RankSVM-queries": Systems._rank_svm,
    "RankBoost": Systems._rank_boost,
    "RankNet": Systems._rank_net,
    "RankNet-linear": Systems._rank_net,
    "MaximumEntropy": Systems._maximum_entropy,
    "WeightSearch": Systems._weight_search,
    "LambdaMART": Systems._lambda_mart,
}


def _decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{exponent}") for exponent in range(low, high + 1))


def _half_decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(10.0 ** (k / 2) for k in range(2 * low, 2 * high + 1))


# The grids of experiments contain the values that validation picks, with a margin on both sides. Below some C rankings
# stop changing, because all documents are within the margin and w is C times a fixed vector. Above 1e5 the rankings of
# plain classifiers hardly change.
_RANKING_CS, _PLAIN_CS, _BALANCED_CS = _decades(-4, 2), _decades(0, 5), _decades(-3, 3)
_PAPER_LOSSES = {"SVM-map": "map", "SVM-roc": "roc_area"}
_PAPER_SCALINGS = {
    "SVM-acc": None,
    "SVM-acc2": None,
    "SVM-acc3": "query-percentiles",
    "SVM-acc4": "query-min-max",
}

# A query of a pool has up to a million pairs.
_POOL_SYSTEMS = Systems(features=Scores(), every=10, tol=1e-3, pairs_Cs=_decades(-7, 0), queries_Cs=_decades(-2, 4))

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
        return _POOL_SYSTEMS.make(name)
    balanced = kind == "SVM-acc2"
    return ClassificationSVM(
        name=name,
        features=Indicators(bins, _PAPER_SCALINGS[kind]),
        Cs=_BALANCED_CS if balanced else _PLAIN_CS,
        balanced=balanced,
        fit_intercept=bool(intercept),
    )


# The grids of benchmarks contain the values that validation picks on MQ2008, with a margin on both sides. Models are
# trained until a smaller tol changes no number of a table by 0.0002, so that tables compare objectives.
_TOL, _BINNED_TOL = 1e-5, 1e-6
_LINEAR_CS, _BINNED_CS = _half_decades(-2, 6), _half_decades(-4, 2)
_LETOR_LOSSES = {"SVM-map": "map", "SVM-roc": "roc_area", "SVM-ndcg": "ndcg"}
_LETOR_SYSTEMS = Systems(
    features=AsGiven(), every=1, tol=_TOL, pairs_Cs=_half_decades(-3, 2), queries_Cs=_half_decades(-1, 5)
)


def benchmark_model(name: str) -> ProtocolModel:
    """Return the model with a name in `structsvm.registry.benchmark_models`."""
    if name in _LETOR_LOSSES:
        return RankingSVM(name=name, features=AsGiven(), loss=_LETOR_LOSSES[name], Cs=_LINEAR_CS, tol=_TOL)
    if name == "SVM-map-bins":
        return RankingSVM(name=name, features=Indicators(10), loss="map", Cs=_BINNED_CS, tol=_BINNED_TOL)
    return _LETOR_SYSTEMS.make(name)


def as_models(given: Any, registry: Registry[Any], **settings: Any) -> tuple[ProtocolModel, ...]:
    """Return one or several models or names of a registry as models; raise InputError for anything else."""
    one = isinstance(given, str | ProtocolModel) or not isinstance(given, Iterable)
    models = []
    for place, each in enumerate((given,) if one else as_list("models", given, "models or names")):
        if isinstance(each, type) and issubclass(each, ProtocolModel):
            raise InputError(f"models[{place}] must be an object, {each.__name__}(...); {each.__name__} is a class")
        if not isinstance(each, str | ProtocolModel):
            raise InputError(
                f"models[{place}] is neither a name nor a model: {each!r}. Wrap an estimator in "
                "EstimatorModel(name=..., features=AsGiven(), estimator=...), of structsvm.protocols"
            )
        models.append(registry.create(each, **settings) if isinstance(each, str) else each)
    return tuple(models)


def needed_package(model: str) -> str:
    """Return the unusable package that a model of this name needs; "" if it needs none."""
    return EXTRAS[model] if _fault(model) else ""


def require_installed(model: str) -> None:
    """Raise NotInstalledError if a model needs a package that is not installed or cannot be loaded."""
    fault = _fault(model)
    if fault:
        raise NotInstalledError(f"the model {model} needs {EXTRAS[model]}{fault}")


def _fault(model: str) -> str:
    """Return the reason why a model's package is unusable, with the remedy; "" if it needs none."""
    require_kind("model", model, str, "the name of a model")
    package = EXTRAS.get(model)
    if package is None:
        return ""
    if find_spec(package) is None:
        return f": pip install 'structural-svm[{model.lower()}]'"
    try:
        import_module(package)
    except (ImportError, OSError) as error:
        return f", which is installed but cannot be loaded: {error}. Leave the model out, or mend that"
    return ""
