"""The models of the paper on SVM-map, by name."""

from collections.abc import Sequence

from structsvm.exceptions import UnknownNameError
from structsvm.models.base import Model
from structsvm.models.feature_maps import Indicators
from structsvm.models.svm import ClassificationSVM, RankingSVM


def _decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(float(f"1e{exponent}") for exponent in range(low, high + 1))


# Where validation picks, with a margin on both sides. Below a small C rankings no longer change (all documents
# are within the margin, and w is C times a fixed vector); above 1e5 those of plain classifiers hardly do.
_RANKING_CS = _decades(-4, 2)
_PLAIN_CS = _decades(0, 5)
_BALANCED_CS = _decades(-3, 3)


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


def model_names() -> list[str]:
    """Return the names that `create_model` knows, in the order of the tables."""
    return [model.name for model in _paper_models(1)]


def create_model(name: str, bins: int = 50) -> Model:
    """Return a model of the paper: "SVM-map", "SVM-roc", "SVM-acc", "SVM-acc2", "SVM-acc3", "SVM-acc4".

    Those of classification exist with an intercept, too: "SVM-acc+b", ...

    Parameters
    ----------
    name : its name; upper or lower case.
    bins : thresholds of each base function.

    Raises
    ------
    UnknownNameError : no model is called so.
    """
    return find_model(name, _paper_models(bins))


def find_model(name: str, models: Sequence[Model]) -> Model:
    """Return the model of a name, upper or lower case.

    Raises
    ------
    UnknownNameError : no model is called so; it names all of them.
    """
    for model in models:
        if model.name.lower() == name.strip().lower():
            return model
    raise UnknownNameError("model", name, [model.name for model in models])
