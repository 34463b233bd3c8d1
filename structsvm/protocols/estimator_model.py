"""Models from scikit-learn estimators, with a candidate for each point of a grid and each number of rounds."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise, product
from typing import Any

import numpy as np
from attrs import define, field, frozen
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

from structsvm.exceptions import FeatureScaleWarning, InputError, brief
from structsvm.features.operators import BinnedMatrix
from structsvm.foundation.compute.compile_progress import running_time
from structsvm.foundation.settings import is_integer
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.model import Candidate, ProtocolModel, Value, require_features
from structsvm.registry.capabilities import capabilities_of, takes_argument
from structsvm.registry.registry import first_sentence
from structsvm.result import Result, Status

ParameterGrid = tuple[tuple[str, tuple[Any, ...]], ...]


def _as_grid(grid: Mapping[str, Sequence[Any]] | ParameterGrid) -> ParameterGrid:
    """Return an immutable copy of a grid; raise InputError if it does not map names to lists of values."""
    if not isinstance(grid, Mapping | tuple):
        raise InputError(f"grid must be a dict of values by the names of parameters, as {{'alpha': [1, 10]}}: {grid!r}")
    pairs = list(grid.items() if isinstance(grid, Mapping) else grid)
    for name, values in pairs:
        if isinstance(values, str) or not isinstance(values, Iterable):
            raise InputError(f"grid must have a list of values for {name!r}, as [{values!r}]; it has {values!r}")
    return tuple((name, tuple(values)) for name, values in pairs)


def _points(grid: ParameterGrid) -> Iterator[dict[str, Any]]:
    """Yield the points of a grid in the given order: of equal results, the first wins."""
    pairs = ([(name, value) for value in values] for name, values in grid)
    return map(dict, product(*pairs))


def _value_of(settings: Mapping[str, Any]) -> Value:
    """Return a single number unchanged, and other settings as text: "C=10, gamma=0.1"."""
    if len(settings) == 1:
        (value,) = settings.values()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return ", ".join(f"{name}={value}" for name, value in settings.items())


def _as_rounds(rounds: Any) -> tuple[int, ...] | None:
    if rounds is None:
        return None
    if not isinstance(rounds, Iterable) or not all(map(is_integer, rounds)):
        raise InputError(
            f"EstimatorModel(rounds=...) must be whole numbers, such as range(10, 301, 10), got {brief(rounds)}"
        )
    return tuple(map(int, rounds))


@frozen(kw_only=True)
class EstimatorModel(ProtocolModel):
    """A scikit-learn estimator, fitted for every point of a grid of its parameters.

    Estimators of other libraries read `Indicators` as a CSR matrix. ``fit`` and ``predict`` receive ``qid`` if they
    accept it. In a pipeline, the last step and each step that requests ``qid`` receive it. A classifier separates
    relevant documents (y > 0) from other documents; its scores are the ``decision_function``, or else the probability
    of relevance.

    Parameters
    ----------
    name, features : see `ProtocolModel`.
    estimator : estimator to clone and fit; it stays unchanged.
    grid : values by parameter name, the simplest first; all combinations are fitted, the last parameter changing
        fastest. Default: one candidate with the estimator's settings.
    rounds : for an estimator with ``staged_predict``, such as boosting: ascending numbers of rounds to choose from. One
        fit gives a candidate for each number. ``staged_predict(X)`` yields the scores of the rows of X after each
        round. If an estimator stops early, later numbers of rounds have the scores of its last round; if it stops
        before the first round, they have the scores of ``predict``. Default: one candidate for each fit.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from structsvm.protocols import Scores
    >>> model = EstimatorModel(name="ridge", features=Scores(), estimator=Ridge(), grid={"alpha": [10.0, 0.1]})
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    >>> [(candidate.value, candidate.scores(X, qid).round(2).tolist()) for candidate in model.candidates(X, y, qid)]
    [(10.0, [0.41, 0.53, 0.65, 0.41]), (0.1, [0.11, 0.63, 1.16, 0.11])]
    >>> from structsvm.rankers import RankBoost
    >>> model = EstimatorModel(name="RankBoost", features=Scores(), estimator=RankBoost(20), rounds=(5, 10, 20))
    >>> [candidate.value for candidate in model.candidates(X, y, qid)]
    [5, 10, 20]
    """

    name: str
    features: FeatureMap = field(validator=require_features)
    estimator: BaseEstimator
    grid: ParameterGrid = field(default=(), converter=_as_grid)
    rounds: tuple[int, ...] | None = field(default=None, converter=_as_rounds)

    def __attrs_post_init__(self) -> None:
        """Require an object with fit and get_params, values of its parameters, and rounds only if it has stages."""
        estimator, rounds, kind = self.estimator, self.rounds, type(self.estimator).__name__
        if isinstance(estimator, type):
            raise InputError(
                f"{self.name}: the estimator must be an object, {estimator.__name__}(...); {estimator.__name__} is a "
                "class"
            )
        if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
            raise InputError(
                f"{self.name}: the estimator must have fit and get_params, as scikit-learn's; {estimator!r}"
            )
        parameters = estimator.get_params()
        for name, values in self.grid:
            if name not in parameters:
                raise InputError(f"{self.name}: {kind} has no parameter {name!r}; it has {', '.join(parameters)}")
            if not values:
                raise InputError(f"{self.name}: the grid has no values for {name!r}")
        if rounds is None:
            return
        if not capabilities_of(estimator).is_staged:
            raise InputError(f"{self.name}: {kind} has no staged_predict; leave out rounds")
        if not rounds or rounds[0] < 1 or any(later <= earlier for earlier, later in pairwise(rounds)):
            raise InputError(
                f"EstimatorModel(rounds=...) of {self.name} must ascend from 1 or more, such as range(10, 301, 10); "
                f"got {rounds}"
            )

    @property
    def description(self) -> str:
        """The first sentence of the docstring of the estimator."""
        return first_sentence(type(self.estimator))

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `ProtocolModel.candidates`."""
        candidates: list[Candidate] = []
        stages = None if self.rounds is None else _Stages(self.rounds)
        for settings in _points(self.grid):
            fitted, seconds = _fit(self.estimator, settings, X, y, qid)
            if stages is not None:
                candidates.extend(stages.candidates(fitted, settings, seconds))
                continue
            scores = partial(_scores, fitted)
            candidates.append(Candidate(_value_of(settings), scores, seconds, gap_of(fitted), weights_of(fitted)))
        return candidates


@define(eq=False)
class _Stages:
    """Scores after each number of rounds, cached for the last fitted estimator and matrix."""

    rounds: tuple[int, ...]
    _fitted: Any = None
    _matrix: Any = None
    _cached: Matrix | None = None

    def candidates(self, fitted: Any, settings: dict[str, Any], seconds: float) -> Iterator[Candidate]:
        """Yield a candidate for each number of rounds, with the share of the fit's seconds that it adds."""
        added = np.diff(self.rounds, prepend=0) / self.rounds[-1]
        for position, number in enumerate(self.rounds):
            value = _value_of(settings | {"rounds": number}) if settings else number
            yield Candidate(value, partial(self.scores, fitted, position), seconds * float(added[position]))

    def scores(self, fitted: Any, position: int, X: Any, _qid: IntVector) -> Vector:
        if self._cached is None or self._fitted is not fitted or self._matrix is not X:
            # Free the old scores first, so that old and new scores never coexist in memory.
            self._cached = None
            self._cached = self._collected(fitted, X)
            self._fitted, self._matrix = fitted, X
        scores: Vector = self._cached[position]
        return scores

    def _collected(self, fitted: Any, X: Any) -> Matrix:
        scores = np.empty((len(self.rounds), X.shape[0]))
        position, stage = 0, None
        X = _readable(fitted, X)
        for number, stage in enumerate(fitted.staged_predict(X), start=1):
            if number == self.rounds[position]:
                scores[position] = stage
                position += 1
                if position == len(self.rounds):
                    return scores
        if stage is None:
            if not hasattr(fitted, "predict"):
                raise InputError(
                    f"{type(fitted).__name__}.staged_predict yields no scores: fit at least one round, or implement "
                    "predict"
                )
            stage = fitted.predict(X)
        scores[position:] = stage
        return scores


def _scores(fitted: Any, X: Any, qid: IntVector) -> Vector:
    X = _readable(fitted, X)
    if not is_classifier(fitted):
        scores = _call(fitted, "predict", X, qid=qid)
    elif hasattr(fitted, "decision_function"):
        scores = _call(fitted, "decision_function", X, qid=qid)
    else:
        scores = _call(fitted, "predict_proba", X, qid=qid)[:, 1]
    return np.asarray(scores, dtype=np.float64)


def _fit(
    estimator: BaseEstimator, settings: Mapping[str, Any], X: Any, y: Vector, qid: IntVector
) -> tuple[BaseEstimator, float]:
    """Fit a clone of an estimator with other settings; return the clone and the seconds that it took."""
    fitted: Any = clone(estimator).set_params(**settings)
    labels = y
    if is_classifier(fitted):
        require_both_classes(float((y > 0).mean()))
        labels = (y > 0).astype(np.float64)
    began = running_time()
    with warnings.catch_warnings():
        # The user chose the same features for all models.
        warnings.simplefilter("ignore", FeatureScaleWarning)
        _call(fitted, "fit", _readable(fitted, X), labels, qid=qid)
    if getattr(getattr(_last_step(fitted), "result_", None), "status", None) is Status.INTERRUPTED:
        # An interrupted solver returns its best weights so far, which are not a result.
        raise KeyboardInterrupt
    return fitted, running_time() - began


def gap_of(fitted: Any) -> float | None:
    """Return the certified gap in units of the loss, ``gap / C`` (`RankSVM`: share of the pairs), or None if absent."""
    last = _last_step(fitted)
    result = getattr(last, "result_", None)
    if not isinstance(result, Result):
        return None
    return max(result.gap, 0.0) / (result.C * getattr(last, "gap_unit_", 1.0))


def weights_of(fitted: Any) -> Vector | None:
    """Return the weights of the input features; None for pipelines and for scores that are not a weighted sum."""
    coef = getattr(fitted, "weights_", getattr(fitted, "coef_", None))
    if coef is None or isinstance(fitted, Pipeline):
        return None
    weights = np.asarray(coef.toarray() if hasattr(coef, "toarray") else coef, dtype=np.float64)
    of_one = weights.ndim > 0 and weights.size == weights.shape[-1] == getattr(fitted, "n_features_in_", weights.size)
    return weights.ravel() if of_one and np.isfinite(weights).all() else None


def _last_step(fitted: Any) -> Any:
    return fitted.steps[-1][1] if isinstance(fitted, Pipeline) else fitted


def require_both_classes(share: float) -> None:
    """Raise InputError if the share of relevant documents is 0 or 1, because a classifier needs both classes."""
    if not 0.0 < share < 1.0:
        raise InputError(
            f"{'every' if share else 'no'} training document is relevant (a label above 0): a classifier needs both "
            "relevant and other documents"
        )


def _readable(estimator: Any, X: Any) -> Any:
    """Return indicators as CSR for estimators of other libraries, which read arrays only."""
    return X.tocsr() if isinstance(X, BinnedMatrix) and not hasattr(estimator, "capabilities") else X


def _call(estimator: Any, method: str, *arguments: Any, qid: IntVector) -> Any:
    """Call a method with ``qid`` if the estimator accepts or routes it; metadata routing is on during the call."""
    with config_context(enable_metadata_routing=True):
        last = _last_step(estimator)
        if last is not estimator and hasattr(last, f"set_{method}_request") and takes_argument(last, method, "qid"):
            getattr(last, f"set_{method}_request")(qid=True)
        routed = get_routing_for_object(estimator).consumes(method, ["qid"])
        queries = {"qid": qid} if takes_argument(estimator, method, "qid") or "qid" in routed else {}
        return getattr(estimator, method)(*arguments, **queries)
