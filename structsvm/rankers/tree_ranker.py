"""Boosted trees with a certificate: values of leaves and weights of features, learned together."""

# `help` then shows types by name instead of as long unions.
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import Objective
from structsvm.estimators.inputs import features_as_fitted
from structsvm.estimators.linear import LinearRanker
from structsvm.estimators.parameters import bounds_of, measure_of, random_of, ranking_loss, solver_of
from structsvm.estimators.trained import NONE
from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError, brief
from structsvm.features.operators import LeafMatrix, Operator, Rows
from structsvm.features.operators.composed import HStack
from structsvm.features.scaling.scalings import Scaling
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.frames import column_names, is_frame
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import (
    RANKING_TOL,
    place,
    require_integer,
    require_number,
    require_switch,
)
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import ScoreLoss
from structsvm.metrics import Measure
from structsvm.models.leaves import LEFT, ZERO, ZERO_MISSING, LeafModel, Trees, without_missing
from structsvm.models.linear import LinearModel
from structsvm.problem import Problem
from structsvm.rankers.ensembles import Ensemble, ensemble_of
from structsvm.rankers.lambda_mart import LambdaMART
from structsvm.rankers.training import checked_training
from structsvm.result import Result
from structsvm.solvers import Solver

SAMPLED: Mapping[str, float] = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.6}
"""Shares of rows and features that each tree sees, in LightGBM's names, whose defaults test worse on MQ2008."""

_COMPARED = 1000
"""Largest number of training rows that are scored by the library of a refitted ensemble too."""

_COUNTED_FROM_ZERO = (
    ". LightGBM and XGBoost count the features of a file from 0, load_letor by default from 1: if the ensemble learned "
    "from arrays of load_letor, read X without zero_based",
    ". LightGBM and XGBoost count the features of a file from 0, load_letor by default from 1: if the ensemble learned "
    "from a file, read X by load_letor(..., zero_based=True)",
)
"""Probable causes if the ensemble has one feature less or one more than X."""

_ROUNDING = 1e-5
"""Largest difference of these scores, relative to the sum of the largest leaf values; XGBoost adds in float32."""


@frozen(eq=False)
class _TreeObjective(Objective):
    """An objective over the leaves of trees, with the number of training rows in each leaf."""

    trees: Trees = field(kw_only=True)
    counts: IntVector = field(kw_only=True)


class TreeRanker(LinearRanker):
    """Boosted trees whose leaf values are learned together, with weights of the plain features beside them.

    LightGBM or scikit-learn grows the trees greedily. Each leaf is then a feature: 1 for the documents that fall into
    it. The convex problem of `Ranker` finds the values of all leaves and the weights of all features: the certified
    optimum of the loss over these trees. Boosting fixes the values of each tree when it grows the next one; here they
    are corrected together (as in the totally corrective boosting of Shen, Lin and van den Hengel, "StructBoost", 2014).

    A missing feature (NaN) takes the side that the trees learned, and counts 0 in the weighted sum.

    Parameters
    ----------
    loss, C, solver, tol, max_iter, measure, n_jobs : as in `Ranker`.
    n_estimators : number of trees.
    num_leaves : largest number of leaves of a tree.
    learning_rate : factor of each tree while trees are grown; smaller values make trees more alike.
    min_child_samples : fewest training rows in a leaf.
    trees : "lightgbm" grows trees by lambdarank, each on a sample of 80 % of the rows and 60 % of the features (extra
        ``lambdamart``). "scikit-learn" grows trees by least squares of the labels, and accepts no NaN. None: LightGBM
        if it is installed, else scikit-learn. Or a fitted ensemble, whose trees are used as they are; see `refit`.
    features : learn weights of the plain features beside the trees.
    normalize : normalization of the plain features, as in `Ranker`; trees see them as they are.
    monotonic_cst : as in `Ranker`. Trees do not split by the constrained features, so each score obeys the constraints.
    random_state : seed of the samples.

    Attributes
    ----------
    model_ : the trained `LeafModel`.
    result_, loss_, n_features_in_, n_examples_, n_left_out_ : as in `Ranker`. The weights of the result are the values
        of all leaves, then the weights of the (normalized) features.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(400, 2)), np.repeat(np.arange(20), 20)
    >>> y = (X[:, 0] * X[:, 1] > 1.0).astype(int)  # no weighted sum of the features ranks like this
    >>> ranker = TreeRanker(C=100.0, n_estimators=20, trees="scikit-learn", random_state=0).fit(X, y, qid)
    >>> ranker.result_.converged, ranker.score(X, y, qid) > 0.9
    (True, True)
    """

    _saved_as = "TreeRanker"
    _form = LeafModel
    _weighs_scales = False
    _kept: ClassVar[Mapping[str, Any]] = {"n_examples_": 1, "n_left_out_": 0, "_fitted_with_qid": bool}
    capabilities = evolve(LinearRanker.capabilities, takes_missing=True)
    model_: LeafModel  # type: ignore[assignment]

    bounds = None
    """Weights have no bounds except by ``monotonic_cst``."""

    def __init__(
        self,
        loss: str | ScoreLoss[Any] = "map",
        C: float = 1.0,
        *,
        n_estimators: int = 200,
        num_leaves: int = 8,
        learning_rate: float = 0.1,
        min_child_samples: int = 20,
        trees: Any = None,
        features: bool = True,
        solver: str | Solver = "auto",
        tol: float | None = None,
        max_iter: int | None = None,
        measure: str | Measure | None = None,
        normalize: str | None = "standard",
        monotonic_cst: ArrayLike | dict[str, int] | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.loss = loss
        self.C = C
        self.n_estimators = n_estimators
        self.num_leaves = num_leaves
        self.learning_rate = learning_rate
        self.min_child_samples = min_child_samples
        self.trees = trees
        self.features = features
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.measure = measure
        self.normalize = normalize
        self.monotonic_cst = monotonic_cst
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same ensemble, because a clone of a fitted ensemble would have no trees."""
        settings = self.get_params(deep=False)
        kept = settings.pop("trees")
        return type(self)(**{name: clone(value, safe=False) for name, value in settings.items()}, trees=kept)

    @property
    def coef_(self) -> Vector:
        """Weights of the (normalized) features, shape (d,); 0 with ``features=False``."""
        linear = self.model_.linear
        return np.zeros(self.n_features_in_) if linear is None else linear.coef

    @property
    def scaling_(self) -> Scaling | None:
        return None if self.model_.linear is None else self.model_.linear.scaling

    def predict(self, X: Any, qid: ArrayLike | None = None) -> Vector:
        check_is_fitted(self, "model_")
        if qid is None and self._fitted_with_qid and self.model_.by_query:
            raise self._missing_qid("predict", " and normalizes by query")
        return self.model_.predict(X, qid)

    def _objective(self, X: Any, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None) -> Objective:
        require_object("trees", self.trees)
        self._require_settings()
        loss, solver = ranking_loss(self), solver_of(self, tol=RANKING_TOL)
        ensemble = None if isinstance(self.trees, str | None) else ensemble_of(self.trees)
        names = _shared_names(ensemble, X)
        training = checked_training(self, X, y, qid, sample_weight, missing=True, names=names, sort=True)
        X, y = training.X, np.asarray(training.y)
        weight = None if sample_weight is None else training.row_weights
        own = Queries.of_sizes(training.queries.sizes)
        ends = bounds_of(self, X.shape[1])
        bound = np.zeros(X.shape[1], dtype=bool) if ends is None else np.isfinite(ends[0]) | np.isfinite(ends[1])

        if ensemble is None:
            ensemble = ensemble_of(self._grow(_hidden(X, bound), y, own.number, weight))
        trees = self._checked_trees(ensemble, X, bound)
        matrix = LeafMatrix(trees.leaves(X), trees.offsets)
        examples = np.arange(len(y) + 1) if loss.per_row else own.ptr
        operator: Operator = Rows(matrix, examples)
        scaling = None
        if self.features:
            rows, scaling = self._scaled_for_fit(without_missing(X), lambda: own, weight)
            operator = HStack(operator, Rows(rows, examples))
        problem = Problem.from_queries(
            operator, y, own.number, loss=loss, C=self.C, sample_weight=weight, n_jobs=self.n_jobs
        )
        if ends is not None and self.features:
            free = np.full(matrix.shape[1], np.inf)
            low, high = (np.concatenate([sign * free, end]) for sign, end in zip((-1.0, 1.0), ends, strict=True))
            problem = problem.regularized(bounds=(low, high))
        self.loss_ = problem.loss
        self.n_examples_, self.n_left_out_ = problem.used, problem.left_out
        self._fitted_with_qid = qid is not None
        sizes = np.diff(matrix.offsets).tolist()
        counts = np.concatenate([np.bincount(tree, minlength=n) for tree, n in zip(matrix.codes.T, sizes, strict=True)])
        return _TreeObjective(problem, solver, self.loss, ranks=True, scaling=scaling, trees=trees, counts=counts)

    def _checked_trees(self, found: Ensemble, X: Any, bound: NDArray[np.bool_]) -> Trees:
        """Return the trees of an ensemble of the features of X that has no splits by the features in ``bound``."""
        if found.n_features != X.shape[1]:
            many = abs(found.n_features - X.shape[1]) == 1
            raise InputError(
                f"the ensemble in {place(self, 'trees')} has {found.n_features} features, and X has {X.shape[1]}"
                f"{_COUNTED_FROM_ZERO[found.n_features > X.shape[1]] if many else ''}"
            )
        constant = found.constant_features
        if constant[0] and not constant[-1] and _spread(X, 0) > 0.0 and _spread(X, -1) == 0.0:
            raise InputError(
                f"the ensemble in {place(self, 'trees')} learned no value of the first feature, and X has no values of "
                f"the last, so that X seems to be shifted{_COUNTED_FROM_ZERO[True]}"
            )
        trees, _ = found.trees()
        if found.absent_is_missing and is_sparse(X):
            if (np.abs(X.data) <= ZERO).any():
                raise InputError(
                    "X is sparse and stores zeros, which XGBoost reads as values, but absent entries as missing: "
                    "remove the zeros by X.eliminate_zeros(), or pass dense features"
                )
            trees = evolve(trees, decision=(trees.decision & LEFT | ZERO_MISSING).astype(np.uint8))
        if bound[trees.feature].any():
            first = int(trees.feature[bound[trees.feature].argmax()])
            raise InputError(
                f"the ensemble in {place(self, 'trees')} splits by feature {first}, which has a constraint in "
                "monotonic_cst: train the ensemble without this feature, or leave the constraint out"
            )
        return trees

    def _grow(self, X: Any, y: Vector, query: NDArray[Any], weight: Vector | None) -> Any:
        how = self.trees
        if how is None:
            how = "lightgbm" if _has_lightgbm() else "scikit-learn"
        if how == "lightgbm":
            grower = LambdaMART(
                self.n_estimators,
                learning_rate=self.learning_rate,
                num_leaves=self.num_leaves,
                min_child_samples=self.min_child_samples,
                params=dict(SAMPLED) | ({} if self.n_jobs is None else {"num_threads": self.n_jobs}),
                random_state=self.random_state,
            )
            return grower.fit(X, y, query, weight).booster_
        from sklearn.ensemble import GradientBoostingRegressor

        if np.isnan(X.data if hasattr(X, "indptr") else X).any():
            raise InputError(
                "X has missing features (NaN), which trees='scikit-learn' does not split by: fill them in, or install "
                "LightGBM: pip install 'structural-svm[lambdamart]'"
            )
        grown = GradientBoostingRegressor(
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            max_depth=None,
            max_leaf_nodes=self.num_leaves,
            min_samples_leaf=self.min_child_samples,
            subsample=SAMPLED["bagging_fraction"],
            max_features=SAMPLED["feature_fraction"],
            random_state=random_of(self),
        )
        return grown.fit(X, y, weight)

    def _finish(self, objective: Objective, result: Result) -> None:
        """Set ``model_`` from the objective of `_objective` and the result of a solver."""
        assert isinstance(objective, _TreeObjective)
        leaves, d = objective.trees.offsets[-1], self.n_features_in_
        linear = LinearModel(n_features=d, coef=result.w[leaves:], scaling=objective.scaling) if self.features else None
        self.model_ = LeafModel(
            trees=objective.trees,
            values=result.w[:leaves],
            counts=objective.counts,
            linear=linear,
            n_features=d,
            feature_names=self.known_names,
            training=self._training(result, NONE),
        )

    def _restore(self) -> None:
        result = self.model_.training.result
        if result is None:
            raise ValueError("it has no result")
        weights = [self.model_.values, *([] if self.model_.linear is None else [self.model_.linear.coef])]
        if not np.array_equal(result.w, np.concatenate(weights)):
            raise ValueError("the weights of the model and of its result differ")

    def _require_settings(self) -> None:
        for name in ("n_estimators", "min_child_samples"):
            require_integer(place(self, name), getattr(self, name), 1)
        require_integer(place(self, "num_leaves"), self.num_leaves, 2)
        require_number(place(self, "learning_rate"), self.learning_rate, above=0.0)
        require_switch(place(self, "features"), self.features)
        require_jobs(place(self, "n_jobs"), self.n_jobs)
        if isinstance(self.trees, str) and self.trees not in ("lightgbm", "scikit-learn"):
            raise InputError(
                f"{place(self, 'trees')} must be 'lightgbm', 'scikit-learn' or a fitted ensemble, "
                f"got {brief(self.trees)}. "
                f"Load a model file first, as by lightgbm.Booster(model_file={self.trees!r})"
            )
        measure_of(self)
        random_of(self)


def _hidden(X: Any, bound: NDArray[np.bool_]) -> Any:
    """Return features with some columns replaced by constants, so that no tree splits by them."""
    if not bound.any():
        return X
    shown: Any = X.copy()
    if isinstance(shown, np.ndarray):
        shown[:, bound] = 0.0
    else:
        shown.data[bound[shown.indices]] = 0.0
    return shown


def _spread(X: Any, column: int) -> float:
    """Return the difference between the largest and the smallest value of a column."""
    return float(np.ptp(X[:, column] if isinstance(X, np.ndarray) else X.tocsr()[:, [column]].toarray()))


def _has_lightgbm() -> bool:
    try:
        import lightgbm  # noqa: F401
    except Exception:
        return False
    return True


def _shared_names(ensemble: Ensemble | None, X: Any) -> Sequence[str] | None:
    """Return the names of an ensemble's features if a data frame has one of them, because libraries make names, too."""
    names = None if ensemble is None else ensemble.names
    return names if names is not None and is_frame(X) and not set(names).isdisjoint(column_names(X)) else None


def refit(
    model: Any,
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    **settings: Any,
) -> Any:
    """Learn the values of all leaves of a trained ensemble again, for a measure; return an ensemble of its kind.

    The result runs everywhere the ensemble did, such as in a server. It has the trees that the ensemble predicts with.
    Its scores are the sums of their new values, without a constant, an initial score or a link; scores of classifiers
    of CatBoost and scikit-learn are log-odds. The library's scores of up to 1,000 rows of X are compared with the
    certified ones. For weights of the plain features beside the leaves, fit ``TreeRanker(trees=model)``.

    Parameters
    ----------
    model : a fitted ensemble, which is not changed: a ``lightgbm.Booster`` or an estimator of LightGBM, the same of
        XGBoost, a model of CatBoost with symmetric trees, or ``GradientBoosting``, ``RandomForest``, ``ExtraTrees`` or
        ``DecisionTreeRegressor`` of scikit-learn.
    X, y, qid, sample_weight : training data, as in `Ranker.fit`; it may be the data of the ensemble. XGBoost counts
        absent entries of sparse X as missing, and zeros of dense X as 0.
    **settings : parameters of `TreeRanker`, such as ``loss`` and ``C``.

    Returns
    -------
    A ``lightgbm.Booster``, an ``xgboost.Booster``, or a copy of the estimator of CatBoost or scikit-learn.

    Raises
    ------
    InputError : the model is of another kind, its trees split by categories, or the library scores X differently.
    NotFittedError : the model is not fitted.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(400, 2)), np.repeat(np.arange(20), 20)
    >>> y = (X[:, 0] * X[:, 1] > 1.0).astype(int)
    >>> forest = RandomForestRegressor(10, max_leaf_nodes=8, random_state=0).fit(X, y)
    >>> refit(forest, X, y, qid, loss="map", C=10.0).predict(X).shape
    (400,)
    """
    if settings.get("features"):
        raise InputError(
            "refit returns a model of leaves alone, so features must not be True: for weights of features beside the "
            "leaves, fit TreeRanker(trees=model)"
        )
    ensemble = ensemble_of(model)
    fitted = TreeRanker(**{**settings, "trees": model, "features": False}).fit(X, y, qid, sample_weight)
    made = ensemble.with_values(fitted.model_.values)
    _require_equal(ensemble, made, fitted, features_as_fitted(fitted, X, missing=True))
    return made


def _require_equal(ensemble: Ensemble, made: Any, fitted: TreeRanker, X: Any) -> None:
    """Raise InputError if the library scores some training rows otherwise than the fitted model."""
    rows = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], _COMPARED)).astype(np.int64)]
    expected = fitted.predict(rows)
    kind = type(made).__name__
    if is_sparse(rows):
        rows = sp.csr_matrix(rows)
    elif not isinstance(rows, np.ndarray):
        rows = rows.toarray()
    try:
        scores = ensemble.scores(made, rows)
    # Libraries have own classes of errors.
    except Exception as error:
        first = str(error).partition("\n")[0]
        raise InputError(f"the refitted {kind} cannot score the rows of X: {first}") from error
    sums = np.maximum.reduceat(np.abs(fitted.model_.values), fitted.model_.trees.offsets[:-1]).sum()
    if not (scores.shape == expected.shape and (np.abs(scores - expected) <= _ROUNDING * sums).all()):
        raise InputError(
            f"the refitted {kind} scores training rows otherwise than its leaf values, by up to "
            f"{np.abs(scores - expected).max():.3g}, so its scores would not be certified. Please report this; until "
            "then, fit TreeRanker(trees=model), whose scores are certified"
        )
