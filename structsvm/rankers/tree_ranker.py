"""Boosted trees with a certificate: values of leaves and weights of features, learned together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from attrs import define, evolve, field, frozen
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from structsvm.estimators import fits
from structsvm.estimators.parameters import measure_of, random_of, solver_of
from structsvm.estimators.ranker import LINEAR
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored
from structsvm.estimators.search import Grid, held_scores
from structsvm.estimators.written_settings import require_object
from structsvm.exceptions import InputError, brief
from structsvm.features.operators import LeafMatrix, Operator, Rows
from structsvm.features.operators.composed import HStack
from structsvm.features.scaling.scalings import Scaling
from structsvm.foundation.arrays import is_sparse
from structsvm.foundation.compute.threads import require_jobs
from structsvm.foundation.frames import column_names, is_frame
from structsvm.foundation.queries import Queries
from structsvm.foundation.settings import RANKING_TOL, place, require_integer, require_number, require_switch
from structsvm.foundation.types import Vector
from structsvm.losses import ScoreLoss
from structsvm.metrics import AP, Measure
from structsvm.models.ensembles import Ensemble, ensemble_of
from structsvm.models.leaves import LEFT, ZERO, ZERO_MISSING, LeafModel, Trees
from structsvm.models.linear import LinearModel
from structsvm.models.rows import filled
from structsvm.rankers.lambda_mart import LambdaMART
from structsvm.result import Result
from structsvm.solvers import Solver
from structsvm.training.choose import choose, group_folds
from structsvm.training.data import TrainingData, features_as_fitted
from structsvm.training.grouped import GroupedData
from structsvm.training.objective import Objective, Spec
from structsvm.training.ranking import RankingSpec, ranking_loss
from structsvm.training.regularizer import Regularizer
from structsvm.training.scaling import scaled

SAMPLED: Mapping[str, float] = {"bagging_fraction": 0.8, "bagging_freq": 1, "feature_fraction": 0.6}
"""Shares of rows and features that each tree sees, in LightGBM's names, whose defaults test worse on MQ2008."""

CS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0, 3000.0)
"""Values of C to choose from; the best C of the sets of the benchmark `trees` is from 1 to 1000."""

CHOICE_TOL = 1e-4
"""Default ``tol`` of the fits that choose, which take 3 s on a fold of MQ2008, and 20 s at 1e-6."""

DEFAULT_C, FEWEST = 100.0, 20
"""C for ensembles that have seen all labels, and for fewer usable queries than 20, which choose no C."""

_COMPARED = 1000
"""Largest number of training rows that are scored by the library of a refitted ensemble too."""

_COUNTED = ". LightGBM and XGBoost count the features of a file from 0, load_letor by default from 1: if the ensemble "
_ONE_LESS = f"{_COUNTED}learned from arrays of load_letor, read X without zero_based"
_ONE_MORE = f"{_COUNTED}learned from a file, read X by load_letor(..., zero_based=True)"
"""Probable causes if the ensemble has one feature less or one more than X."""

_ROUNDING = 1e-5
"""Largest difference of these scores, relative to the sum of the largest leaf values; XGBoost adds in float32."""


@frozen(eq=False)
class TreeSpec(Spec):
    """Settings of a `TreeRanker`: an ensemble, or how ``grower`` grows trees, and the fit of leaves."""

    grower: Any
    ensemble: Ensemble | None
    leaves: RankingSpec

    def data(self, X: Any, y: Any, qid: Any = None, weight: Any = None) -> TrainingData:
        """Check features, which may be NaN, labels, query ids and weights of rows."""
        names = _shared_names(self.ensemble, X)
        return TrainingData.of(self.leaves.owner, X, y, qid, weight, missing=True, names=names)

    def chosen(self, data: TrainingData) -> tuple[Self, str | None]:
        """Choose C and the loss on a quarter of the queries, unless C or the ensemble is given, or queries are few."""
        settings, loss, queries = self.grower, self.leaves.loss, data.queries
        usable = [loss.per_row or loss.usable(labels) for labels in queries.split(data.y)]
        rows = np.array(usable)[queries.number] & (True if data.weight is None else data.weight > 0.0)
        if settings.C is not None or self.ensemble is not None or len(np.unique(queries.number[rows])) < FEWEST:
            return self, None
        data, measure = data.subset(np.flatnonzero(rows)), measure_of(settings)
        losses = ["map", "ndcg"] if settings.loss is None and not isinstance(measure, AP) else [settings.loss]
        quick = {"tol": CHOICE_TOL} if settings.tol is None and isinstance(settings.solver, str) else {}
        grids = [Grid(clone(settings).set_params(loss=name, **quick), CS, None, None) for name in losses]
        train, held = map(data.subset, group_folds(data.qid, data.rows, 4, np.random.RandomState(0), data.units)[0])
        choice = choose(
            [(train, held)],
            1,
            lambda part, fold: [candidate for grid in grids for candidate in grid.fits(part, fold)],
            partial(held_scores, {"": measure}),
        )
        name, C = losses[choice.best // len(CS)], CS[choice.best % len(CS)]
        of_loss = f"loss {name}, " if len(losses) > 1 else ""
        value = f"{measure} {choice.scores[0, choice.best, 0]:.4f} on {held.extent}"
        reason = f"{of_loss}C = {C:g} of {len(CS)} values from {CS[0]:g} to {CS[-1]:g}: {value}"
        return clone(settings).set_params(loss=name, C=C).spec(), reason

    def objective(self, data: TrainingData) -> Objective:
        """Grow the trees, and return the objective over their leaves and the plain features."""
        settings, owner = self.grower, self.leaves.owner
        grouped = GroupedData.of(data, sort=True)
        X, y, queries = grouped.X, np.asarray(grouped.y), Queries.of_sizes(grouped.queries.sizes)
        weight = None if data.weight is None else grouped.row_weights
        d = X.shape[1]
        limits = Regularizer(owner, monotonic_cst=settings.monotonic_cst).limits(d, data.names)
        bound = np.zeros(d, dtype=bool) if limits is None else np.isfinite(limits[0]) | np.isfinite(limits[1])
        ensemble = self.ensemble or ensemble_of(_grow(settings, _hidden(X, bound), y, queries.number, weight))
        trees = _checked_trees(owner, ensemble, X, bound)
        matrix, number = LeafMatrix(trees.leaves(X), trees.offsets), trees.offsets[-1]
        examples = np.arange(len(y) + 1) if self.leaves.loss.per_row else queries.ptr
        operator: Operator = Rows(matrix, examples)
        scaling, bounds = None, None
        if settings.features:
            rows = filled(X, 0.0)
            rows, scaling = scaled(owner, settings.normalize, rows, lambda: queries, weight, data.names, warn=False)
            operator = HStack(operator, Rows(rows, examples))
            if limits is not None:
                free = np.full(number, np.inf)
                bounds = tuple(np.concatenate([sign * free, end]) for sign, end in zip((-1, 1), limits, strict=True))
        # The leaves of a row have the squared norm T, the number of trees, and standardized features about d. Penalties
        # of T and d act as if both were 1, so that C means the same for all ensembles.
        penalty = np.repeat([float(matrix.codes.shape[1]), float(d)], [number, operator.d - number])
        leaves = evolve(self.leaves, regularizer=Regularizer(owner, feature_penalty=penalty, bounds=bounds))
        objective = leaves.objective(TrainingData(owner, operator, y, queries.number, weight))
        sizes = np.diff(matrix.offsets).tolist()
        counts = np.concatenate([np.bincount(tree, minlength=n) for tree, n in zip(matrix.codes.T, sizes, strict=True)])

        def model(result: Result) -> LeafModel:
            values, weights = np.split(result.w, [number])
            linear = LinearModel(n_features=d, coef=weights, scaling=scaling) if settings.features else None
            common: Any = {"n_features": d, "feature_names": data.names}
            return LeafModel(trees=trees, values=values, counts=counts, linear=linear, **common)

        return evolve(
            objective,
            model=model,
            facts={**objective.facts, "_fitted_with_qid": data.qid is not None},
            statistics=data.statistics,
            categories=data.categories,
            loss=objective.problem.loss,
            n_features=None,
        )


def _restore(ranker: Any) -> None:
    """Require that the model of a file has the weights of its result."""
    _require_settings(ranker)
    model = ranker.model_
    if model.training.result is None:
        raise ValueError("it has no result")
    weights = np.append(model.values, [] if model.linear is None else model.linear.coef)
    if not np.array_equal(model.training.result.w, weights):
        raise ValueError("the weights of the model and of its result differ")


@define(slots=False, eq=False, repr=False)
class TreeRanker(RankingEstimator):
    """Boosted trees whose leaf values are learned together, with weights of the plain features beside them.

    LightGBM or scikit-learn grows the trees. Each leaf is then a feature: 1 for the documents that fall into it. The
    convex problem of `Ranker` finds the values of all leaves and the weights of all features, a certified optimum for
    these trees (totally corrective boosting, as in Shen, Lin and van den Hengel, "StructBoost", 2014).

    If a feature is missing (NaN), rows take the side that the tree learned; the weighted sum counts it as 0.

    Parameters
    ----------
    loss : as in `Ranker`. None: "map"; but if ``measure`` is another measure and C is None, "map" or "ndcg", whichever
        ranks held-out queries better.
    C : as in `Ranker`, but penalties of leaf values are multiplied by the number of trees, and penalties of feature
        weights by the number of features, so that C means the same for all numbers. None: `fit` grows trees for three
        quarters of the queries, chooses among 8 values from 1 to 3000 by ``measure`` on the rest, then fits all; for a
        given ensemble, or fewer than 20 usable queries, C is 100.
    solver, tol, max_iter, measure, n_jobs : as in `Ranker`.
    n_estimators : number of trees.
    num_leaves : largest number of leaves of a tree.
    learning_rate : factor of each tree while trees are grown; smaller values make trees more alike.
    min_child_samples : fewest training rows in a leaf.
    trees : "lightgbm" grows trees by lambdarank, each on a sample of 80 % of the rows and 60 % of the features (extra
        ``lambdamart``). "scikit-learn" grows trees by least squares of the labels, and accepts no NaN. None: LightGBM
        if it is installed, else scikit-learn. Or a fitted ensemble, or the ``pathlib.Path`` of its file, whose trees
        are used as they are; see `refit`.
    features : learn weights of the plain features beside the trees.
    normalize : normalization of the plain features, as in `Ranker`; trees see them as they are.
    monotonic_cst : as in `Ranker`. Trees do not split by the constrained features, so each score obeys the constraints.
    random_state : seed of the samples.

    Attributes
    ----------
    model_ : the trained `LeafModel`.
    result_, loss_, n_features_in_, n_examples_, n_left_out_ : as in `Ranker`. The weights of the result are the values
        of all leaves, then the weights of the (normalized) features. ``result_.C`` is the chosen C.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(400, 2)), np.repeat(np.arange(20), 20)
    >>> y = (X[:, 0] * X[:, 1] > 1.0).astype(int)  # no weighted sum of the features ranks like this
    >>> ranker = TreeRanker(C=100.0, n_estimators=20, trees="scikit-learn", random_state=0).fit(X, y, qid)
    >>> ranker.result_.converged, ranker.score(X, y, qid) > 0.9
    (True, True)
    """

    capabilities = evolve(LINEAR, takes_missing=True)
    stored: ClassVar[Stored] = Stored(
        "TreeRanker", LeafModel, {"n_examples_": 1, "n_left_out_": 0, "_fitted_with_qid": bool}, _restore
    )

    loss: str | ScoreLoss[Any] | None = None
    C: float | None = None
    n_estimators: int = field(default=200, kw_only=True)
    num_leaves: int = field(default=8, kw_only=True)
    learning_rate: float = field(default=0.1, kw_only=True)
    min_child_samples: int = field(default=20, kw_only=True)
    trees: Any = field(default=None, kw_only=True)
    features: bool = field(default=True, kw_only=True)
    solver: str | Solver = field(default="auto", kw_only=True)
    tol: float | None = field(default=None, kw_only=True)
    max_iter: int | None = field(default=None, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)
    normalize: str | None = field(default="standard", kw_only=True)
    monotonic_cst: ArrayLike | dict[str, int] | None = field(default=None, kw_only=True)
    random_state: int | np.random.RandomState | None = field(default=None, kw_only=True)
    n_jobs: int | None = field(default=None, kw_only=True)

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same ensemble, because a clone of a fitted ensemble would have no trees."""
        settings = self.get_params(deep=False)
        trees = settings.pop("trees")
        return type(self)(**{name: clone(value, safe=False) for name, value in settings.items()}, trees=trees)

    @property
    def coef_(self) -> Vector:
        """Weights of the (normalized) features, shape (d,); 0 with ``features=False``."""
        linear = self.model_.linear
        return np.zeros(self.n_features_in_) if linear is None else linear.coef

    @property
    def scaling_(self) -> Scaling | None:
        return None if self.model_.linear is None else self.model_.linear.scaling

    fit = fits.fit
    path = fits.path

    def spec(self) -> TreeSpec:
        """Return the checked settings of a fit."""
        require_object("trees", self.trees)
        _require_settings(self)
        owner, loss = type(self).__name__, "map" if self.loss is None else self.loss
        ensemble = None if isinstance(self.trees, str | None) else ensemble_of(self.trees)
        C, solver = DEFAULT_C if self.C is None else self.C, solver_of(self, tol=RANKING_TOL)
        leaves = RankingSpec(owner, loss, ranking_loss(owner, loss), C, solver, Regularizer(owner), n_jobs=self.n_jobs)
        return TreeSpec(self, ensemble, leaves)


def _require_settings(ranker: Any) -> None:
    for name, least in (("n_estimators", 1), ("min_child_samples", 1), ("num_leaves", 2)):
        require_integer(place(ranker, name), getattr(ranker, name), least)
    require_number(place(ranker, "learning_rate"), ranker.learning_rate, above=0.0)
    require_switch(place(ranker, "features"), ranker.features)
    require_jobs(place(ranker, "n_jobs"), ranker.n_jobs)
    if isinstance(ranker.trees, str) and ranker.trees not in ("lightgbm", "scikit-learn"):
        raise InputError(
            f"{place(ranker, 'trees')} must be 'lightgbm', 'scikit-learn', a fitted ensemble or the path of its file, "
            f"got {brief(ranker.trees)}. For a file, pass pathlib.Path({ranker.trees!r})"
        )
    measure_of(ranker)
    random_of(ranker)


def _checked_trees(owner: str, ensemble: Ensemble, X: Any, bound: NDArray[np.bool_]) -> Trees:
    """Return the trees of an ensemble of the features of X that has no splits by the features in ``bound``."""
    if ensemble.n_features != X.shape[1]:
        cause = {-1: _ONE_LESS, 1: _ONE_MORE}.get(ensemble.n_features - X.shape[1], "")
        raise InputError(
            f"the ensemble in {place(owner, 'trees')} has {ensemble.n_features} features, and X has {X.shape[1]}{cause}"
        )
    constant = ensemble.constant_features
    if constant[0] and not constant[-1]:
        first, last = np.ptp(X[:, [0, -1]] if isinstance(X, np.ndarray) else X.tocsr()[:, [0, -1]].toarray(), axis=0)
        if first > 0.0 and last == 0.0:
            raise InputError(
                f"the ensemble in {place(owner, 'trees')} learned no value of the first feature, and X has no values "
                f"of the last, so that X seems to be shifted{_ONE_MORE}"
            )
    trees, _, _ = ensemble.trees()
    if ensemble.absent_is_missing and is_sparse(X):
        if (np.abs(X.data) <= ZERO).any():
            raise InputError(
                "X is sparse and stores zeros, which XGBoost reads as values, but absent entries as missing: "
                "remove the zeros by X.eliminate_zeros(), or pass dense features"
            )
        trees = evolve(trees, decision=(trees.decision & LEFT | ZERO_MISSING).astype(np.uint8))
    if bound[trees.feature].any():
        first = int(trees.feature[bound[trees.feature].argmax()])
        raise InputError(
            f"the ensemble in {place(owner, 'trees')} splits by feature {first}, which has a constraint in "
            "monotonic_cst: train the ensemble without this feature, or leave the constraint out"
        )
    return trees


def _grow(settings: Any, X: Any, y: Vector, query: NDArray[Any], weight: Vector | None) -> Any:
    if settings.trees == "lightgbm" or (settings.trees is None and _has_lightgbm()):
        shared = ("n_estimators", "learning_rate", "num_leaves", "min_child_samples", "random_state")
        params = dict(SAMPLED) | ({} if settings.n_jobs is None else {"num_threads": settings.n_jobs})
        grower = LambdaMART(**{name: getattr(settings, name) for name in shared}, params=params)
        return grower.fit(X, y, query, weight).booster_
    from sklearn.ensemble import GradientBoostingRegressor

    if np.isnan(X.data if hasattr(X, "indptr") else X).any():
        raise InputError(
            "X has missing features (NaN), which trees='scikit-learn' does not split by: fill them in, or install "
            "LightGBM: pip install 'structural-svm[lambdamart]'"
        )
    grown = GradientBoostingRegressor(
        n_estimators=settings.n_estimators,
        learning_rate=settings.learning_rate,
        max_depth=None,
        max_leaf_nodes=settings.num_leaves,
        min_samples_leaf=settings.min_child_samples,
        subsample=SAMPLED["bagging_fraction"],
        max_features=SAMPLED["feature_fraction"],
        random_state=random_of(settings),
    )
    return grown.fit(X, y, weight)


def _hidden(X: Any, bound: NDArray[np.bool_]) -> Any:
    """Return features with some columns replaced by constants, so that no tree splits by them."""
    if not bound.any():
        return X
    if isinstance(X, np.ndarray):
        return np.where(bound, X.dtype.type(0.0), X)
    shown = X.copy()
    shown.data[bound[shown.indices]] = 0.0
    return shown


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
    """Relearn the values of all leaves of a trained ensemble for a measure; return an ensemble of the same kind.

    The result runs everywhere the ensemble did, such as in a server. It has the trees that the ensemble predicts with.
    A score is the sum of the new leaf values, without a constant, an initial score or a link; scores of classifiers of
    CatBoost and scikit-learn are log-odds. The library's scores of up to 1,000 rows of X are compared with the
    certified ones. For weights of the plain features beside the leaves, fit ``TreeRanker(trees=model)``.

    Parameters
    ----------
    model : a fitted ensemble, which is not changed: a ``Booster`` or an estimator of LightGBM or XGBoost, a model of
        CatBoost with symmetric trees, or ``GradientBoosting``, ``RandomForest``, ``ExtraTrees`` or
        ``DecisionTreeRegressor`` of scikit-learn. Or the path of a file of LightGBM, XGBoost or CatBoost.
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
    if isinstance(model, str):
        model = Path(model)
    ensemble = ensemble_of(model)
    fitted = TreeRanker(**{**settings, "trees": model, "features": False}).fit(X, y, qid, sample_weight)
    refitted = ensemble.with_values(fitted.model_.values)
    _require_equal(ensemble, refitted, fitted, features_as_fitted(fitted, X, missing=True))
    return refitted


def _require_equal(ensemble: Ensemble, refitted: Any, fitted: TreeRanker, X: Any) -> None:
    """Raise InputError if the library scores some training rows otherwise than the fitted model."""
    rows = X[np.linspace(0, X.shape[0] - 1, min(X.shape[0], _COMPARED)).astype(np.int64)]
    expected = fitted.predict(rows)
    kind = type(refitted).__name__
    if is_sparse(rows):
        rows = sp.csr_matrix(rows)
    elif not isinstance(rows, np.ndarray):
        rows = rows.toarray()
    try:
        scores = ensemble.scores(refitted, rows)
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
