"""The models of the experiment, by name: those of the paper on SVM-map, and the systems it is compared with."""

from collections.abc import Sequence

from structsvm.exceptions import UnknownNameError
from structsvm.fusion.methods import find_method
from structsvm.protocols.feature_maps import Indicators, Scores
from structsvm.protocols.model import Model
from structsvm.protocols.svm_models import ClassificationSVM, RankingSVM
from structsvm.protocols.systems import other_systems, require_installed
from structsvm.registry.spelling import plain


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
    """Return the names of the models of the paper, in the order of its tables."""
    return [model.name for model in _paper_models(1)]


def model_names() -> list[str]:
    """Return the names that `create_model` knows; those of the paper are first."""
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
    """
    return find_model(name, _models(bins))


def find_model(name: str, models: Sequence[Model]) -> Model:
    """Return the model of a name; case does not matter, nor do hyphens and underscores, as in "comb-mnz".

    A method of fusion may have the name that it has in `structsvm.fusion.METHODS`, as "borda".

    Raises
    ------
    UnknownNameError : no model is called so; it names all of them.
    NotInstalledError : the model needs a package that is not installed or cannot be loaded.
    """
    method = find_method(name)
    wanted = plain(name if method is None else method.__name__)
    for model in models:
        if plain(model.name) == wanted:
            require_installed(model.name)
            return model
    raise UnknownNameError("model", name, [model.name for model in models])
