"""LambdaMART: boosted trees, trained by LightGBM."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from attrs import define, field

from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.saving import Stored, curve
from structsvm.exceptions import InputError, brief, stacklevel_of_user
from structsvm.features.operators.matrix import Readable
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import place, require_integer, require_number
from structsvm.foundation.types import Vector
from structsvm.metrics import Measure
from structsvm.models.trees import TreeModel
from structsvm.rankers import staged
from structsvm.rankers.staged import Learned, StagedData
from structsvm.registry.capabilities import Capabilities
from structsvm.training.choose import best_of

_ROUNDS = "num_iterations num_iteration n_iter num_tree num_trees num_round num_rounds nrounds num_boost_round max_iter"
_OURS = {
    "objective objective_type app application loss": "always 'lambdarank'",
    "metric metrics metric_types": "the parameter measure, on validation",
    f"{_ROUNDS} n_estimators": "the parameter n_estimators",
    "early_stopping_round early_stopping_rounds early_stopping n_iter_no_change": "the parameter n_iter_no_change",
    "learning_rate shrinkage_rate eta": "the parameter learning_rate",
    "num_leaves num_leaf max_leaves max_leaf max_leaf_nodes": "the parameter num_leaves",
    "min_data_in_leaf min_data_per_leaf min_data min_child_samples min_samples_leaf": "the parameter min_child_samples",
    "seed random_seed random_state": "the parameter random_state",
}
"""Names of parameters of LightGBM 4.7 that ``params`` must not have, and their replacement."""

_GRADES = 31
"""Number of grades that have a gain in LightGBM, unless ``params`` has ``label_gain``."""


def _require_settings(ranker: Any) -> None:
    _lightgbm()
    require_integer(place(ranker, "n_estimators"), ranker.n_estimators, 1)
    require_number(place(ranker, "learning_rate"), ranker.learning_rate, above=0.0)
    require_integer(place(ranker, "num_leaves"), ranker.num_leaves, 2)
    require_integer(place(ranker, "min_child_samples"), ranker.min_child_samples, 1)
    if ranker.params is not None and not isinstance(ranker.params, dict):
        raise InputError(f"LambdaMART(params=...) must be a dict of parameters of LightGBM, got {brief(ranker.params)}")
    for names, instead in _OURS.items():
        for name in ranker.params or {}:
            if name in names.split():
                raise InputError(f"LambdaMART(params=...) must not have {name!r}: that is {instead}")
    random_of(ranker)


def _require_plain_boosting(params: Mapping[str, Any]) -> None:
    """Refuse validation with boosting that changes earlier trees."""
    for name in ("boosting", "boosting_type", "boost"):
        if params.get(name) == "dart":
            raise InputError(
                f"LambdaMART(params={{{name!r}: 'dart'}}) takes no validation: earlier trees are scaled anew with each "
                "tree, so no number of first trees has the scores that were measured. Leave validation out"
            )


def _restore(ranker: Any) -> None:
    """Set and check the attributes of each tree."""
    _require_settings(ranker)
    model = ranker.model_
    if model.trees != ranker.best_iteration_:
        raise ValueError(f"it has {model.trees} trees, but best_iteration_ is {ranker.best_iteration_}")
    ranker.booster_ = model.booster
    ranker.validation_scores_ = curve(model.training.arrays, "validation_scores")


@define(slots=False, eq=False, repr=False)
class LambdaMART(RankingEstimator):
    """LambdaMART: boosted regression trees that optimize NDCG.

    The gradient of a pair of documents is RankNet's times the change of NDCG if both swap places (Burges, "From RankNet
    to LambdaRank to LambdaMART: an overview", MSR-TR-2010-82, section 7). LightGBM grows the trees (objective
    ``lambdarank``). Needs the extra: ``pip install 'structural-svm[lambdamart]'``.

    Features are dense, CSR or a `BinnedMatrix`. NaN is a missing feature, which a split sends to the better side.
    Labels are whole numbers from 0 to 30, and the gain is ``2^grade − 1``. A ``label_gain`` in ``params`` changes both.
    With ``validation``, the model keeps the best number of trees; boosting "dart" does not allow that. If LightGBM
    rejects data or parameters, its compiled code also writes a line to standard error. `fit` emits a ``UserWarning`` if
    no tree has a split, so that trees score all documents alike.

    Parameters
    ----------
    n_estimators : largest number of trees.
    learning_rate : factor of each tree.
    num_leaves : largest number of leaves of a tree.
    min_child_samples : fewest training rows in a leaf.
    params : more parameters of LightGBM, by any of its names, such as ``{"lambdarank_truncation_level": 100,
        "label_gain": [0, 1, 3], "num_threads": 1}``. LightGBM ignores unknown names without a warning.
    n_iter_no_change : stop after this number of trees without a better measure of ``validation``; None: never stop
        early.
    measure : measure of `score` and of ``validation``, as in `Ranker`.
    random_state : seed of LightGBM's random numbers, such as the sample of rows for bins.

    Attributes
    ----------
    model_ : the trained model.
    booster_ : the ``lightgbm.Booster``.
    best_iteration_ : number of trees that predictions use: the best by ``validation``, or all.
    validation_scores_ : the measure of ``validation`` after each tree; None without it.
    n_features_in_, n_examples_ : as in `Ranker`.
    n_left_out_ : number of queries of a single grade or of weight 0, which have no gradient. LightGBM still counts
        their rows for bins and for ``min_child_samples``.

    Examples
    --------
    >>> X, y, qid = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 2], [1, 1, 1, 1]
    >>> LambdaMART(min_child_samples=1, params={"min_data_in_bin": 1}).fit(X, y, qid=qid).score(X, y, qid=qid)
    1.0
    """

    capabilities = Capabilities(is_staged=True, takes_sparse=True, takes_missing=True)
    stored: ClassVar[Stored] = Stored("LambdaMART", TreeModel, staged.FACTS, _restore)

    n_estimators: int = 100
    learning_rate: float = field(default=0.1, kw_only=True)
    num_leaves: int = field(default=31, kw_only=True)
    min_child_samples: int = field(default=20, kw_only=True)
    params: dict[str, Any] | None = field(default=None, kw_only=True)
    n_iter_no_change: int | None = field(default=None, kw_only=True)
    random_state: int | np.random.RandomState | None = field(default=None, kw_only=True)
    measure: str | Measure | None = field(default=None, kw_only=True)

    fit = staged.fit
    _require_settings = _require_settings

    def _learned(self, checked: StagedData) -> Learned:
        grouped, held_out = checked.grouped, checked.held_out
        if held_out is not None:
            _require_plain_boosting(self.params or {})
        usable = grouped.usable(grouped.with_pairs())
        lightgbm = _lightgbm()
        grades = _grades(np.asarray(grouped.y), self.params or {})
        size = grouped.queries.sizes
        weight = None if (grouped.weights == 1.0).all() else np.repeat(grouped.shares, size)
        data = lightgbm.Dataset(_matrix(grouped.X), grades, group=size, weight=weight)
        settings = {"deterministic": True, "force_row_wise": True, "verbosity": -1} | dict(self.params or {})
        settings |= {
            "objective": "lambdarank",
            "metric": "None",
            "learning_rate": float(self.learning_rate),
            "num_leaves": int(self.num_leaves),
            "min_child_samples": int(self.min_child_samples),
            "seed": int(random_of(self).randint(np.iinfo(np.int32).max)),
        }
        values: list[float] = []
        held: dict[str, Any] = {}
        if held_out is not None:

            def value(scores: Vector, _: Any) -> tuple[str, float, bool]:
                values.append(held_out.value(scores))
                return str(held_out.measure), values[-1], True

            held = {
                "valid_sets": [lightgbm.Dataset(_matrix(held_out.X), held_out.y, reference=data)],
                "feval": value,
            }
            if self.n_iter_no_change is not None:
                held["callbacks"] = [lightgbm.early_stopping(int(self.n_iter_no_change), verbose=False)]
        try:
            booster = lightgbm.train(settings, data, num_boost_round=int(self.n_estimators), **held)
        except lightgbm.basic.LightGBMError as error:
            raise InputError(f"LightGBM cannot learn from these data with these parameters: {error}") from None
        if not booster.feature_importance("split", iteration=-1).any():
            warnings.warn(
                f"no tree has a split, so trees score all documents alike: {data.num_data()} rows may be too few for "
                f"min_child_samples={self.min_child_samples}",
                UserWarning,
                stacklevel=stacklevel_of_user(),
            )
        self.booster_ = booster
        self.validation_scores_: Vector | None = np.array(values) if values else None
        self.best_iteration_ = best_of(values) + 1 if values else int(booster.current_iteration())
        text = booster.model_to_string(num_iteration=-1)
        model = partial(TreeModel.of, booster, text=text, trees=self.best_iteration_)
        return Learned(usable, model, {"validation_scores": self.validation_scores_})

    predict = staged.predict

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the scores of rows, shape (rows,), after each kept tree; the last are as from `predict`."""
        matrix = _matrix(staged.fitted_features(self, X))
        scores = np.zeros(matrix.shape[0])
        for tree in range(self.best_iteration_):
            scores = scores + self.model_.scores_of(matrix, tree, 1)
            yield scores


def _lightgbm() -> ModuleType:
    openmp = "LightGBM needs OpenMP of the system: libgomp1 on Debian and Ubuntu, libomp from Homebrew."
    with needed("LambdaMART needs LightGBM", "lambdamart", openmp):
        import lightgbm
    module: ModuleType = lightgbm
    return module


def _grades(y: Vector, params: Mapping[str, Any]) -> Vector:
    wrong = (y < 0.0) | (y != np.floor(y))
    if wrong.any():
        raise InputError(
            f"LambdaMART needs grades that are whole numbers of at least 0, but {wrong.sum()} of {len(y)} labels are "
            f"not, such as {y[wrong.argmax()]:g}; y = np.unique(y, return_inverse=True)[1] numbers the labels from the "
            "smallest"
        )
    gains = params.get("label_gain")
    grades = _GRADES if gains is None else len(gains.split(",") if isinstance(gains, str) else np.atleast_1d(gains))
    largest = int(y.max())
    if largest >= grades:
        raise InputError(
            f"LambdaMART has gains for grades up to {grades - 1}, but a label is {largest}: pass a gain for each grade "
            f"from 0 on, such as params={{'label_gain': list(range({largest + 1}))}}. "
            "TreeRanker(trees='scikit-learn') needs no gains"
        )
    return y


def _matrix(X: Readable) -> Any:
    """Return the features as a dense array or a CSR matrix, which LightGBM reads."""
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else X
    return rows if isinstance(rows, np.ndarray) else sp.csr_matrix(rows)
