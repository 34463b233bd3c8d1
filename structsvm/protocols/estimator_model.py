"""Any estimator as a model: a candidate for each point of a grid of its parameters, and for each number of rounds."""

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from inspect import signature
from itertools import pairwise
from typing import Any

import numpy as np
from attrs import define, field, frozen
from sklearn import config_context
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import get_routing_for_object

from structsvm.exceptions import FeatureScaleWarning, InputError
from structsvm.operators import BinnedMatrix
from structsvm.protocols.feature_maps import FeatureMap
from structsvm.protocols.grid import Grid, as_grid, points, require_grid, value_of
from structsvm.protocols.model import Candidate, Model, require_features
from structsvm.result import Result, Status
from structsvm.settings import is_integer, truth_value
from structsvm.types import IntVector, Matrix, Vector


def _require_estimator(model: Any, attribute: Any, estimator: Any) -> None:
    """Require an object with fit and get_params; a class is refused."""
    if isinstance(estimator, type):
        raise InputError(
            f"{model.name}: the estimator must be an object, {estimator.__name__}(...); {estimator.__name__} is a class"
        )
    if not (hasattr(estimator, "fit") and hasattr(estimator, "get_params")):
        raise InputError(f"{model.name}: the estimator must have fit and get_params, as scikit-learn's; {estimator!r}")


@frozen(kw_only=True)
class EstimatorModel(Model):
    """An estimator of scikit-learn's kind, fitted anew for every point of a grid.

    Its ``fit(X, y)`` gets ``qid`` too where it takes it, and so does its ``predict``; of a pipeline, the last
    step and all others that request it, as the transformers of `structsvm.features` do. A classifier
    learns to tell relevant documents (y > 0) from others; the score of a document is its
    ``decision_function``, or the probability that it is relevant.

    Parameters
    ----------
    name, features : see `Model`.
    estimator : estimator that is cloned and fitted; itself it is not changed.
    grid : values for parameters of the estimator by name, the simplest first: all combinations are
        fitted, the last parameter changing fastest. None by default: one candidate.
    sparse : give indicators (`Indicators`) to an estimator that knows only arrays as a CSR matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> from structsvm.protocols import EstimatorModel, Scores
    >>> model = EstimatorModel(name="ridge", features=Scores(), estimator=Ridge(), grid={"alpha": [10.0, 0.1]})
    >>> X, y, qid = np.array([[1.0], [2.0], [3.0], [1.0]]), np.array([0, 1, 1, 0]), np.array([0, 0, 1, 1])
    >>> [(each.value, each.scores(X, qid).round(2).tolist()) for each in model.candidates(X, y, qid)]
    [(10.0, [0.41, 0.53, 0.65, 0.41]), (0.1, [0.11, 0.63, 1.16, 0.11])]
    """

    name: str
    features: FeatureMap = field(validator=require_features)
    estimator: BaseEstimator = field(validator=_require_estimator)
    grid: Grid = field(default=(), converter=as_grid, validator=require_grid)
    sparse: bool = field(default=False, validator=truth_value)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `Model.candidates`."""
        found = []
        for settings in points(self.grid):
            fitted, seconds = _fit(self.estimator, settings, _expanded(X, self.sparse), y, qid)
            scores = partial(_scores, fitted, self.sparse)
            found.append(Candidate(value_of(settings), scores, seconds, gap_of(fitted), _weights_of(fitted)))
        return found


def _as_rounds(rounds: Any) -> tuple[int, ...]:
    if not isinstance(rounds, Iterable) or not all(map(is_integer, rounds)):
        raise InputError(f"StagedModel(rounds=...) must be whole numbers, as range(10, 301, 10) are; got {rounds!r}")
    return tuple(int(each) for each in rounds)


def _staged(model: "StagedModel", _attribute: object, estimator: Any) -> None:
    if not hasattr(estimator, "staged_predict"):
        raise InputError(
            f"{model.name}: {type(estimator).__name__} has no staged_predict, as boosting has it; EstimatorModel takes "
            "any estimator"
        )


def _ascending(model: "StagedModel", _attribute: object, rounds: tuple[int, ...]) -> None:
    if not rounds or rounds[0] < 1 or any(later <= earlier for earlier, later in pairwise(rounds)):
        raise InputError(
            f"StagedModel(rounds=...) of {model.name} must be numbers from 1 that ascend, as range(10, 301, 10) are; "
            f"got {rounds}"
        )


@frozen(kw_only=True)
class StagedModel(Model):
    """An estimator with ``staged_predict``, as boosting has it: one fit gives a candidate for each number of rounds.

    ``staged_predict(X)`` yields the scores of the rows of X after each round. The candidates of one
    fit share one run through the rounds for a matrix; the scores of one fit for one matrix are kept, rows ×
    ``len(rounds)`` numbers.

    Parameters
    ----------
    name, features : see `Model`.
    estimator : estimator that is cloned and fitted for its full number of rounds; itself it is not changed.
    rounds : numbers of rounds to choose from, ascending. An estimator that ended earlier is at its last
        round from there on; one without a round, such as boosting that found nothing to learn, at its ``predict``.
    grid : values for other parameters of the estimator; see `EstimatorModel`.
    sparse : see `EstimatorModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from structsvm.protocols import AsGiven, StagedModel
    >>> from structsvm.rankers import RankBoost
    >>> X, y, qid = np.array([[1.0, 3.0], [2.0, 1.0], [3.0, 2.0]]), np.array([0.0, 1.0, 2.0]), np.zeros(3, np.int64)
    >>> model = StagedModel(name="RankBoost", features=AsGiven(), estimator=RankBoost(20), rounds=(5, 10, 20))
    >>> [candidate.value for candidate in model.candidates(X, y, qid)]  # of one fit of 20 rounds
    [5.0, 10.0, 20.0]
    """

    name: str
    features: FeatureMap = field(validator=require_features)
    estimator: BaseEstimator = field(validator=[_require_estimator, _staged])
    rounds: tuple[int, ...] = field(converter=_as_rounds, validator=_ascending)
    grid: Grid = field(default=(), converter=as_grid, validator=require_grid)
    sparse: bool = field(default=False, validator=truth_value)

    def candidates(self, X: Any, y: Vector, qid: IntVector) -> Sequence[Candidate]:
        """Fit for every point of the grid; see `Model.candidates`.

        The seconds of a fit are shared out over its candidates in proportion to the rounds that each
        adds to the one before.
        """
        found = []
        stages = _Stages(self.rounds, self.sparse)
        added = np.diff(self.rounds, prepend=0) / self.rounds[-1]
        for settings in points(self.grid):
            fitted, seconds = _fit(self.estimator, settings, _expanded(X, self.sparse), y, qid)
            for place, number in enumerate(self.rounds):
                value = value_of(settings | {"rounds": number}) if settings else float(number)
                found.append(Candidate(value, partial(stages.scores, fitted, place), seconds * float(added[place])))
        return found


@define(eq=False)
class _Stages:
    """The scores after the rounds that matter, for the fitted estimator and the matrix that were last asked for."""

    rounds: tuple[int, ...]
    sparse: bool
    _fitted: Any = None
    _matrix: Any = None
    _kept: Matrix | None = None

    def scores(self, fitted: Any, place: int, X: Any, _qid: IntVector) -> Vector:
        if self._kept is None or self._fitted is not fitted or self._matrix is not X:
            self._kept = None  # before the next ones are there, too
            self._kept = self._collected(fitted, X)
            self._fitted, self._matrix = fitted, X
        scores: Vector = self._kept[place]
        return scores

    def _collected(self, fitted: Any, X: Any) -> Matrix:
        kept = np.empty((len(self.rounds), X.shape[0]))
        place, stage = 0, None
        X = _expanded(X, self.sparse)
        for number, stage in enumerate(fitted.staged_predict(X), start=1):
            if number == self.rounds[place]:
                kept[place] = stage
                place += 1
                if place == len(self.rounds):
                    return kept
        if stage is None:
            if not hasattr(fitted, "predict"):
                raise InputError(
                    f"{type(fitted).__name__}.staged_predict yields nothing: it was fitted for no rounds, and has no "
                    "predict to say what it scores without any"
                )
            stage = fitted.predict(X)
        kept[place:] = stage
        return kept


def _scores(fitted: Any, sparse: bool, X: Any, qid: IntVector) -> Vector:
    X = _expanded(X, sparse)
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
    """Fit a clone of an estimator with other settings; return it, and how many seconds it took.

    Raises
    ------
    InputError : it is a classifier, and all documents are relevant, or none is.
    """
    fitted: Any = clone(estimator).set_params(**settings)
    labels = _classes(y) if is_classifier(fitted) else y
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FeatureScaleWarning)  # features are as the user gave them to all models
        _call(fitted, "fit", X, labels, qid=qid)
    if getattr(getattr(_last_step(fitted), "result_", None), "status", None) is Status.INTERRUPTED:
        raise KeyboardInterrupt  # a solver that was interrupted keeps its best so far: that is not its result
    return fitted, time.perf_counter() - began


def gap_of(fitted: Any) -> float | None:
    """Return the certified gap of a fitted estimator, None where it has none.

    In units of the loss, ``gap / C``; for `RankSVM` as a share of the pairs, as its ``tol`` is.
    """
    last = _last_step(fitted)
    result = getattr(last, "result_", None)
    if not isinstance(result, Result):
        return None
    return max(result.gap, 0.0) / (result.C * getattr(last, "gap_unit_", 1.0))


def _weights_of(fitted: Any) -> Vector | None:
    """Return the weights of the features that a fitted estimator is given, None where it is no weighted sum of them.

    Of features that it normalises itself they are those of the normalised ones; those of the last step of a pipeline
    are of other features.
    """
    found = getattr(fitted, "weights_", getattr(fitted, "coef_", None))
    if found is None or isinstance(fitted, Pipeline):
        return None
    weights = np.asarray(found.toarray() if hasattr(found, "toarray") else found, dtype=np.float64)
    of_one = weights.ndim > 0 and weights.size == weights.shape[-1] == getattr(fitted, "n_features_in_", weights.size)
    return weights.ravel() if of_one and np.isfinite(weights).all() else None


def _last_step(fitted: Any) -> Any:
    return fitted.steps[-1][1] if isinstance(fitted, Pipeline) else fitted


def _classes(y: Vector) -> Vector:
    relevant = y > 0
    require_both_classes(float(relevant.mean()))
    return relevant.astype(np.float64)


def require_both_classes(share: float) -> None:
    """Refuse to learn to tell relevant documents from others where there is one kind only; `share` are relevant.

    Raises
    ------
    InputError : the share is 0 or 1.
    """
    if not 0.0 < share < 1.0:
        raise InputError(
            f"{'every' if share else 'no'} training document is relevant (a label above 0): a classifier learns from "
            "relevant documents and others"
        )


def _expanded(X: Any, sparse: bool) -> Any:
    """Return indicators as CSR if that is asked for."""
    return X.tocsr() if sparse and isinstance(X, BinnedMatrix) else X


def _call(estimator: Any, method: str, *arguments: Any, qid: IntVector) -> Any:
    """Call a method of an estimator with the queries if it takes them, or hands them on.

    Metadata routing is switched on for the call, so that what a pipeline or a search does with ``qid`` is
    the same whatever the user's setting: every step that requests it gets it, and the last step of a
    pipeline also where its method has such a parameter and no request was made.
    """
    with config_context(enable_metadata_routing=True):
        if isinstance(estimator, Pipeline):
            _request_for(estimator.steps[-1][1], method)
        handed = {"qid": qid} if _takes_qid(estimator, method) else {}
        return getattr(estimator, method)(*arguments, **handed)


def _request_for(step: Any, method: str) -> None:
    request = getattr(step, f"set_{method}_request", None)
    if request is not None and _has_parameter(step, method):
        request(qid=True)


def _takes_qid(estimator: Any, method: str) -> bool:
    routing = get_routing_for_object(estimator)
    return _has_parameter(estimator, method) or "qid" in routing.consumes(method, ["qid"])


def _has_parameter(estimator: Any, method: str) -> bool:
    function = getattr(estimator, method, None)
    return function is not None and "qid" in signature(function).parameters
