"""The models by name: those of the paper on SVM-map, and the systems it is compared with (`structsvm.rankers`, fusion).

A new ranker is a line of `other_systems`; it then takes part in the experiment and in LETOR's protocol.
"""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec

from structsvm.exceptions import NotInstalledError, UnknownNameError
from structsvm.protocols.estimator_model import EstimatorModel, StagedModel
from structsvm.protocols.feature_maps import AsGiven, FeatureMap, Indicators, Scores
from structsvm.protocols.model import Model
from structsvm.protocols.svm_models import ClassificationSVM, RankingSVM
from structsvm.rankers import LambdaMART, MaximumEntropy, RankBoost, RankNet, RankSVM, WeightSearch
from structsvm.registry import fusions
from structsvm.registry.spelling import plain
from structsvm.settings import as_list, require_kind

EXTRAS = {"LambdaMART": "lightgbm"}
"""Models that need a package which is installed as an extra only."""

LIGHTGBM_SAMPLING = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.6}
"""Row and column sampling of LightGBM in comparisons: its defaults sample nothing and test worse on MQ2008."""


def other_systems(
    features: FeatureMap, *, every: int, tol: float, pairs_Cs: Sequence[float], queries_Cs: Sequence[float]
) -> tuple[Model, ...]:
    """Return the systems: rankers that learn first, then methods of fusion.

    Parameters
    ----------
    features : what those that learn read; fusion and boosting read what is given, and know what is missing. Those that
        take no sparse features get them dense.
    every : number of rounds, trees or epochs from one candidate to the next.
    tol : gap that is good enough for the ranking SVM, as a share of the pairs.
    pairs_Cs, queries_Cs : values of C for the two objectives of the ranking SVM, ascending.

    Examples
    --------
    >>> from structsvm.protocols import AsGiven, other_systems
    >>> systems = other_systems(AsGiven(), every=20, tol=1e-3, pairs_Cs=(1e-4, 1e-2), queries_Cs=(0.1, 10.0))
    >>> [system.name for system in systems][:4]
    ['RankSVM', 'RankSVM-queries', 'RankBoost', 'RankNet']
    >>> systems[3].rounds
    (20, 40, 60, 80, 100)
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
            estimator=LambdaMART(
                max(rounds), learning_rate=0.05, random_state=0, params={"num_threads": 1, **LIGHTGBM_SAMPLING}
            ),
            rounds=rounds,
            grid={"num_leaves": (4, 8, 16)},
        ),
        *(
            EstimatorModel(name=type(each).__name__, features=given, estimator=each)
            for each in map(fusions.create, fusions.built_in)
        ),
    )


def find_model(name: str, models: Sequence[Model]) -> Model:
    """Return the model of a name; case does not matter, nor do hyphens and underscores, as in "comb-mnz".

    A method of fusion may have the name that it has in `structsvm.registry.fusions`, as "borda".

    Parameters
    ----------
    name : the name.
    models : where to look for it, in the order in which an error names them.

    Raises
    ------
    UnknownNameError : no model is called so; it names all of them.
    NotInstalledError : the model needs a package that is not installed or cannot be loaded.

    Examples
    --------
    >>> from structsvm.protocols import create_model, find_model
    >>> find_model("svm-map", [create_model("SVM-map")]).name
    'SVM-map'
    """
    require_kind("name", name, str, "the name of a model")
    wanted = plain(fusions.find(name).__name__ if fusions.knows(name) else name)
    known: list[Model] = as_list("models", models, "a list of models")
    for model in known:
        require_kind("each of models", model, Model, "a Model")
        if plain(model.name) == wanted:
            require_installed(model.name)
            return model
    raise UnknownNameError("model", name, [model.name for model in known])


def _decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{exponent}") for exponent in range(low, high + 1))


# Where validation picks, with a margin on both sides. Below a small C rankings no longer change (all documents
# are within the margin, and w is C times a fixed vector); above 1e5 those of plain classifiers hardly do.
_RANKING_CS = _decades(-4, 2)
_PLAIN_CS = _decades(0, 5)
_BALANCED_CS = _decades(-3, 3)

# A query of a pool has up to a million pairs.
_PAIRS_CS = _decades(-7, 0)
_QUERIES_CS = _decades(-2, 4)


def _paper_models(bins: int) -> tuple[Model, ...]:
    quantiles, percentiles, min_max = (Indicators(bins, of) for of in ("scores", "percentiles", "min-max"))
    return (
        RankingSVM(name="SVM-map", features=quantiles, loss="map", Cs=_RANKING_CS),
        RankingSVM(name="SVM-roc", features=quantiles, loss="roc_area", Cs=_RANKING_CS),
        *(
            ClassificationSVM(
                name=name + suffix,
                features=features,
                Cs=_BALANCED_CS if balanced else _PLAIN_CS,
                balanced=balanced,
                fit_intercept=bool(suffix),
            )
            for suffix in ("", "+b")
            for name, features, balanced in (
                ("SVM-acc", quantiles, False),
                ("SVM-acc2", quantiles, True),
                ("SVM-acc3", percentiles, False),
                ("SVM-acc4", min_max, False),
            )
        ),
    )


def _models(bins: int) -> tuple[Model, ...]:
    others = other_systems(Scores("min-max"), every=10, tol=1e-3, pairs_Cs=_PAIRS_CS, queries_Cs=_QUERIES_CS)
    return (*_paper_models(bins), *others)


def paper_model_names() -> list[str]:
    """Return the names of the models of the paper, in the order of its tables.

    Examples
    --------
    >>> from structsvm.protocols import paper_model_names
    >>> paper_model_names()[:3]
    ['SVM-map', 'SVM-roc', 'SVM-acc']
    """
    return [model.name for model in _paper_models(1)]


def model_names() -> list[str]:
    """Return the names that `create_model` knows; those of the paper are first.

    Examples
    --------
    >>> from structsvm.protocols import model_names
    >>> "SVM-map" in model_names()
    True
    """
    return [model.name for model in _models(1)]


def create_model(name: str, bins: int = 50) -> Model:
    """Return a model for runs of retrieval systems.

    Those of the paper are "SVM-map", "SVM-roc", "SVM-acc", "SVM-acc2", "SVM-acc3" and "SVM-acc4"; those
    of classification exist with an intercept, too: "SVM-acc+b", ... The others are the classes of
    `structsvm.rankers` ("RankBoost", "CombMNZ", ...), and "RankSVM-queries" and "RankNet-linear". Those
    that learn read min-max normalised scores, with 0 for missing ones; RankBoost, LambdaMART and methods of fusion
    read the scores as they are and are told what is missing.

    Parameters
    ----------
    name : its name; case does not matter, nor do hyphens and underscores.
    bins : thresholds of each base function, for models of the paper.

    Raises
    ------
    UnknownNameError : no model is called so.
    NotInstalledError : the model needs a package that is not installed or cannot be loaded.

    Examples
    --------
    >>> from structsvm.protocols import create_model
    >>> model = create_model("svm_map", bins=10)
    >>> model.name, model.loss, model.Cs[0], model.Cs[-1]
    ('SVM-map', 'map', 0.0001, 100.0)
    >>> model.features
    Indicators(bins=10, of='scores')
    """
    return find_model(name, _models(bins))


def needed_package(model: str) -> str:
    """Return the package that a model needs and that cannot be used; "" where there is none.

    Parameters
    ----------
    model : the name of any model.

    Examples
    --------
    >>> from structsvm.protocols import needed_package
    >>> {name: needed_package(name) for name in ("SVM-map", "LambdaMART")}  # 'lightgbm' where it is not installed
    {'SVM-map': '', 'LambdaMART': '...'}
    """
    return EXTRAS[model] if _fault(model) else ""


def is_installed(model: str) -> bool:
    """Say whether the package that a model needs is installed and can be loaded.

    Parameters
    ----------
    model : the name of any model; where it needs no package, or nothing is known of it, the answer is True.

    Examples
    --------
    >>> from structsvm.protocols import is_installed
    >>> is_installed("SVM-map")
    True
    """
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
