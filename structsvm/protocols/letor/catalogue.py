"""The models of a benchmark, by name."""

from structsvm.protocols.catalogue import find_model, is_installed, other_systems
from structsvm.protocols.feature_maps import AsGiven, Indicators
from structsvm.protocols.model import Model
from structsvm.protocols.svm_models import RankingSVM


def _half_decades(low: int, high: int) -> tuple[float, ...]:
    return tuple(10.0 ** (k / 2) for k in range(2 * low, 2 * high + 1))


# Where validation picks on MQ2008, with a margin on both sides. Models are trained to where a smaller tol changes
# no figure of a table by 0.0002: what is compared then is what they optimise, not where a solver happens to stop.
_LINEAR_TOL = 1e-5
_BINNED_TOL = 1e-6
_LINEAR_CS = _half_decades(-2, 6)
_BINNED_CS = _half_decades(-4, 2)
_PAIRS_CS = _half_decades(-3, 2)
_QUERIES_CS = _half_decades(-1, 5)

_MODELS: tuple[Model, ...] = (
    RankingSVM(name="SVM-map", features=AsGiven(), loss="map", Cs=_LINEAR_CS, tol=_LINEAR_TOL),
    RankingSVM(name="SVM-map-bins", features=Indicators(10), loss="map", Cs=_BINNED_CS, tol=_BINNED_TOL),
    RankingSVM(name="SVM-roc", features=AsGiven(), loss="roc_area", Cs=_LINEAR_CS, tol=_LINEAR_TOL),
    RankingSVM(name="SVM-ndcg", features=AsGiven(), loss="ndcg", Cs=_LINEAR_CS, tol=_LINEAR_TOL),
    *other_systems(AsGiven(), every=1, tol=_LINEAR_TOL, pairs_Cs=_PAIRS_CS, queries_Cs=_QUERIES_CS),
)


def model_names() -> list[str]:
    """Return the names that `create_model` knows, in the order of the tables.

    Examples
    --------
    >>> from structsvm.protocols.letor import model_names
    >>> model_names()[0]
    'SVM-map'
    """
    return [model.name for model in _MODELS]


def installed_model_names() -> list[str]:
    """Return the names of the models that need no package which is not installed.

    Examples
    --------
    >>> from structsvm.protocols.letor import installed_model_names
    >>> "SVM-map" in installed_model_names()
    True
    """
    return [name for name in model_names() if is_installed(name)]


def create_model(name: str) -> Model:
    """Return a model of a benchmark.

    "SVM-map", "SVM-roc" and "SVM-ndcg" are linear in the features, and optimise average precision, ROC
    area and NDCG; "SVM-map-bins" reads indicators of 10 quantiles of each feature instead (section 4.2
    of the paper on SVM-map). The others are the classes of `structsvm.rankers` ("RankBoost", ...), of which
    methods of fusion take the features for the scores of systems.

    Parameters
    ----------
    name : its name; case does not matter, nor do hyphens and underscores.

    Raises
    ------
    UnknownNameError : no model is called so.
    NotInstalledError : the model needs a package that is not installed.

    Examples
    --------
    >>> from structsvm.protocols.letor import create_model
    >>> model = create_model("svm-ndcg")
    >>> model.loss, len(model.Cs), model.Cs[0], model.Cs[-1]
    ('ndcg', 17, 0.01, 1000000.0)
    >>> create_model("rank_boost").rounds[-1]
    300
    """
    return find_model(name, _MODELS)
