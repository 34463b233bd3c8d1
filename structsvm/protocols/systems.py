"""The systems that SVM-map is compared with (`structsvm.rankers`) as models."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from structsvm.exceptions import NotInstalledError
from structsvm.fusion import BordaCount, CombANZ, CombMAX, CombMED, CombMIN, CombMNZ, CombSUM, Condorcet, Copeland
from structsvm.protocols.estimator_model import EstimatorModel
from structsvm.protocols.feature_maps import AsGiven, FeatureMap
from structsvm.protocols.model import Model
from structsvm.protocols.staged_model import StagedModel
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, WeightSearch

EXTRAS = {"LambdaMART": "lightgbm"}
"""Models that need a package which is installed as an extra only."""

FUSION = (CombMIN, CombMAX, CombMED, CombSUM, CombANZ, CombMNZ, BordaCount, Condorcet, Copeland)


def other_systems(
    features: FeatureMap, *, every: int, tol: float, pairs_Cs: Sequence[float], queries_Cs: Sequence[float]
) -> tuple[Model, ...]:
    """Return the systems: rankers that learn first, then methods of fusion.

    Parameters
    ----------
    features : what those that learn read; fusion and boosting read what is given, and know what is missing. Those that
        take no sparse features get them dense.
    every : of how many rounds, trees or epochs one is a candidate.
    tol : gap that is good enough for the ranking SVM, as a share of the pairs.
    pairs_Cs, queries_Cs : values of C for the two objectives of the ranking SVM, ascending.
    """
    given = AsGiven(dense=True)
    dense = given if features == AsGiven() else features
    epochs, rounds = range(every, 101, every), range(every, 301, every)
    return (
        EstimatorModel(name="RankSVM", features=features, estimator=RankSVM(tol=tol), grid={"C": pairs_Cs}),
        EstimatorModel(
            name="RankSVM-queries",
            features=features,
            estimator=RankSVM(objective="queries", tol=tol),
            grid={"C": queries_Cs},
        ),
        StagedModel(name="RankBoost", features=given, estimator=RankBoost(max(rounds)), rounds=rounds),
        StagedModel(
            name="RankNet", features=dense, estimator=RankNet(epochs=max(epochs), random_state=0), rounds=epochs
        ),
        StagedModel(
            name="RankNet-linear",
            features=dense,
            estimator=RankNet(0, epochs=max(epochs), random_state=0),
            rounds=epochs,
        ),
        EstimatorModel(
            name="MaximumEntropy",
            features=features,
            estimator=MaximumEntropy(),
            grid={"C": (1e-4, 1e-3, 0.01, 0.1, 1.0, 10.0, 100.0)},
        ),
        EstimatorModel(name="WeightSearch", features=features, estimator=WeightSearch()),
        StagedModel(
            name="LambdaMART",
            features=AsGiven(),
            estimator=LambdaMART(max(rounds), random_state=0, params={"num_threads": 1}),
            rounds=rounds,
            grid={"num_leaves": (4, 8, 16), "learning_rate": (0.02, 0.05, 0.1)},
        ),
        *(EstimatorModel(name=method.__name__, features=given, estimator=method()) for method in FUSION),
    )


def needed_package(model: str) -> str:
    """Return the package that a model needs and that cannot be used, "" where there is none; for any name."""
    return EXTRAS[model] if _fault(model) else ""


def is_installed(model: str) -> bool:
    """Say whether the package that a model needs is installed and can be loaded, for any name of a model."""
    return not needed_package(model)


def require_installed(model: str) -> None:
    """Refuse a model that needs a package which cannot be used, for any name of a model.

    Raises
    ------
    NotInstalledError : it is not installed, or cannot be loaded; the message says why.
    """
    fault = _fault(model)
    if fault:
        raise NotInstalledError(f"the model {model} needs {EXTRAS[model]}{fault}")


def _fault(model: str) -> str:
    """Say why the package that a model needs cannot be used, and the way out; "" where it can, or there is none."""
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
