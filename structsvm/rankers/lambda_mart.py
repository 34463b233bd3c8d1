"""LambdaMART: boosted trees, by LightGBM."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.parameters import random_of
from structsvm.estimators.ranking import Parts
from structsvm.exceptions import InputError, NotInstalledError, stacklevel_of_user
from structsvm.metrics import Measure
from structsvm.operators import Readable
from structsvm.rankers.ranker_file import curve
from structsvm.rankers.staged import HeldOut, StagedRanker
from structsvm.rankers.training import Training
from structsvm.serving.scorer import Description
from structsvm.serving.trees import booster_of, read_trees
from structsvm.settings import place, require_integer, require_number
from structsvm.types import BoolVector, Vector

_OURS = {
    "objective": ("always 'lambdarank'", "objective_type app application loss"),
    "metric": ("the parameter measure, on validation", "metrics metric_types"),
    "num_iterations": (
        "the parameter n_estimators",
        "num_iteration n_iter num_tree num_trees num_round num_rounds nrounds num_boost_round n_estimators max_iter",
    ),
    "early_stopping_round": ("the parameter patience", "early_stopping_rounds early_stopping n_iter_no_change"),
    "learning_rate": ("the parameter learning_rate", "shrinkage_rate eta"),
    "num_leaves": ("the parameter num_leaves", "num_leaf max_leaves max_leaf max_leaf_nodes"),
    "min_data_in_leaf": (
        "the parameter min_child_samples",
        "min_data_per_leaf min_data min_child_samples min_samples_leaf",
    ),
    "seed": ("the parameter random_state", "random_seed random_state"),
}
"""Parameters that LightGBM is not given by hand: what to use instead, and other names (LightGBM 4.7; see `_names`)."""

_BOOSTING = "boosting_type boost"


class LambdaMART(StagedRanker):
    """Boosted regression trees whose gradients are those of RankNet times the change of NDCG of swapping a pair.

    Burges, "From RankNet to LambdaRank to LambdaMART: an overview" (MSR-TR-2010-82), section 7; trees are grown by
    LightGBM (objective ``lambdarank``). Needs the extra: ``pip install 'structural-svm[lambdamart]'``; `fit` raises a
    ``NotInstalledError`` where LightGBM is not installed or cannot be loaded.

    Features are dense, CSR or a `BinnedMatrix`, of which LightGBM reads a CSR copy. NaN is a feature that is missing: a
    split sends such rows to the side that is better in training. Labels are whole numbers of at least 0: a document
    gains ``2^grade − 1``, unless ``params`` has another ``label_gain``; without it 30 is the largest grade. Of the
    weights of queries, the largest counts 1. With ``validation``, the number of trees that is best on it is kept; that
    cannot be with the boosting "dart", by which later trees change earlier ones. Where LightGBM finds that data or
    parameters cannot be used, its compiled code also writes a line to the standard error, which could be kept back for
    the whole process only. A ``UserWarning`` says that no tree has a split, so that all scores are equal.

    Parameters
    ----------
    n_estimators : number of trees, at most.
    learning_rate : factor of what each tree adds.
    num_leaves : leaves of a tree, at most.
    min_child_samples : fewest training rows in a leaf.
    params : more parameters of LightGBM, by any of its names, such as ``{"lambdarank_truncation_level": 100,
        "label_gain": [0, 1, 3], "num_threads": 1}``. LightGBM does not say which of them it does not know.
    patience : trees without a better measure of ``validation`` after which to stop; None: all are grown.
    measure : what `score` reports and ``validation`` is judged by, by name or as an object; None is "map".
    random_state : seed of what LightGBM draws, such as the rows that bins are made from if there are many.

    Attributes
    ----------
    booster_ : the ``lightgbm.Booster``.
    best_iteration_ : the number of trees that predictions are made with: the best by ``validation``, or all.
    validation_scores_ : the measure of ``validation`` after each tree; None without it.
    n_features_in_ : number of features.
    n_examples_ : number of queries learned from.
    n_left_out_ : number of queries of a single grade or of weight 0, which have no gradient. LightGBM still counts
        their rows where it makes bins of the features and for ``min_child_samples``.

    Examples
    --------
    >>> from structsvm.rankers import LambdaMART
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 2]
    >>> LambdaMART(min_child_samples=1, params={"min_data_in_bin": 1}).fit(X, y).score(X, y)
    1.0
    """

    _kind = "lambda_mart"
    _takes_sparse = True
    _takes_missing = True
    _takes_preferences = False

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        learning_rate: float = 0.1,
        num_leaves: int = 31,
        min_child_samples: int = 20,
        params: dict[str, Any] | None = None,
        patience: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        measure: str | Measure | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.num_leaves = num_leaves
        self.min_child_samples = min_child_samples
        self.params = params
        self.patience = patience
        self.random_state = random_state
        self.measure = measure

    def _learn(self, training: Training, usable: BoolVector, held_out: HeldOut | None) -> None:
        lightgbm = _lightgbm()
        grades = _grades(training.y)
        size = training.queries.sizes
        weight = None if (training.weights == 1.0).all() else np.repeat(training.shares, size)
        data = lightgbm.Dataset(_matrix(training.X), grades, group=size, weight=weight)
        given = {"deterministic": True, "force_row_wise": True, "verbosity": -1} | dict(self.params or {})
        given |= {
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

            def measured(scores: Vector, _: Any) -> tuple[str, float, bool]:
                values.append(held_out.value(scores))
                return str(held_out.measure), values[-1], True

            held = {
                "valid_sets": [lightgbm.Dataset(_matrix(held_out.X), held_out.y, reference=data)],
                "feval": measured,
            }
            if self.patience is not None:
                held["callbacks"] = [lightgbm.early_stopping(int(self.patience), verbose=False)]
        try:
            booster = lightgbm.train(given, data, num_boost_round=int(self.n_estimators), **held)
        except lightgbm.basic.LightGBMError as error:
            raise InputError(f"LightGBM cannot learn from these data with these parameters: {error}") from None
        if not booster.feature_importance("split", iteration=-1).any():
            warnings.warn(
                f"no tree has a split, so all scores are equal: {data.num_data()} rows may be too few for "
                f"min_child_samples={self.min_child_samples}",
                UserWarning,
                stacklevel=stacklevel_of_user(),
            )
        self.booster_ = booster
        self.validation_scores_: Vector | None = np.array(values) if values else None
        self.best_iteration_ = int(np.argmax(values)) + 1 if values else int(booster.current_iteration())

    def parts(self) -> Parts:
        """Return the importance of each feature: the total gain of its splits."""
        check_is_fitted(self, "n_examples_")
        gains = self.booster_.feature_importance("gain", iteration=self.best_iteration_)
        return Parts.of("importance", np.asarray(gains, dtype=np.float64), "Importances are gains of splits, summed.")

    def _scores(self, rows: Any) -> Vector:
        return self._of_trees(_matrix(rows), 0, self.best_iteration_)

    def _stages(self, rows: Any) -> Iterator[Vector]:
        matrix = _matrix(rows)
        scores = np.zeros(matrix.shape[0])
        for tree in range(self.best_iteration_):
            scores = scores + self._of_trees(matrix, tree, 1)
            yield scores

    def _of_trees(self, rows: Any, first: int, trees: int) -> Vector:
        if not rows.shape[0]:
            return np.zeros(0)
        scores = self.booster_.predict(rows, start_iteration=first, num_iteration=trees, raw_score=True)
        return np.asarray(scores, dtype=np.float64)

    def _state(self) -> dict[str, Any]:
        text = np.frombuffer(self.booster_.model_to_string(num_iteration=-1).encode(), dtype=np.uint8)
        try:
            read_trees({"trees": text}, self.n_features_in_, self.best_iteration_)
        except ValueError as error:
            raise InputError(
                f"these trees cannot be written to a file that could be read again: {error}. booster_.save_model "
                "writes LightGBM's own"
            ) from None
        return {"trees": text, "validation_scores": self.validation_scores_}

    def _restore(self, arrays: Mapping[str, Any], about: Description) -> None:
        self.booster_ = booster_of(read_trees(arrays, about.n_features, self.best_iteration_))
        self.validation_scores_ = curve(arrays, "validation_scores")

    def _require_settings(self) -> None:
        _lightgbm()
        require_integer(place(self, "n_estimators"), self.n_estimators, 1)
        require_number(place(self, "learning_rate"), self.learning_rate, above=0.0)
        require_integer(place(self, "num_leaves"), self.num_leaves, 2)
        require_integer(place(self, "min_child_samples"), self.min_child_samples, 1)
        if self.params is not None and not isinstance(self.params, dict):
            raise InputError(f"LambdaMART(params=...) must be a dict of parameters of LightGBM, got {self.params!r}")
        _require_others(self.params or {})
        random_of(self)

    def _held_out(self, validation: Any, *, with_qid: bool) -> HeldOut:
        _require_fixed_trees(self.params or {})
        return super()._held_out(validation, with_qid=with_qid)


def _lightgbm() -> ModuleType:
    try:
        import lightgbm
    except ModuleNotFoundError as error:
        if error.name != "lightgbm":
            raise NotInstalledError(f"LightGBM, which LambdaMART needs, cannot be loaded: {error}.") from error
        raise NotInstalledError("LambdaMART needs LightGBM: pip install 'structural-svm[lambdamart]'.") from error
    except (ImportError, OSError) as error:
        raise NotInstalledError(
            f"LightGBM, which LambdaMART needs, is installed but cannot be loaded: {error}. It needs OpenMP of the "
            "system, such as the package libgomp1 of Debian and Ubuntu, or libomp of Homebrew."
        ) from error
    module: ModuleType = lightgbm
    return module


def _grades(y: Any) -> Vector:
    if not isinstance(y, np.ndarray):
        raise InputError("LambdaMART learns from grades, not from preferences: RankNet and RankBoost take these")
    wrong = (y < 0.0) | (y != np.floor(y))
    if wrong.any():
        raise InputError(
            f"LambdaMART needs grades that are whole numbers of at least 0, and {wrong.sum()} of {len(y)} labels are "
            f"not, such as {y[wrong.argmax()]:g}; y = np.unique(y, return_inverse=True)[1] numbers the labels from the "
            "smallest"
        )
    return y


def _matrix(X: Readable) -> Any:
    """Return features as LightGBM reads them."""
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else X
    return rows if isinstance(rows, np.ndarray) else sp.csr_matrix(rows)


def _require_others(params: dict[str, Any]) -> None:
    """Refuse those that the estimator has as parameters of its own, or that are fixed.

    Raises
    ------
    InputError : it names the first, and what to use instead.
    """
    for canonical, (instead, aliases) in _OURS.items():
        for name in params:
            if name in _names(canonical, aliases):
                raise InputError(f"LambdaMART(params=...) must not have {name!r}: that is {instead}")


def _require_fixed_trees(params: dict[str, Any]) -> None:
    """Refuse boosting by which earlier trees change after the scores on validation data were measured.

    Raises
    ------
    InputError : it names the parameter.
    """
    for name in _names("boosting", _BOOSTING):
        if params.get(name) == "dart":
            raise InputError(
                f"LambdaMART(params={{{name!r}: 'dart'}}) takes no validation: earlier trees are scaled anew with each "
                "tree, so that no number of first trees has the scores that were measured. Leave validation out"
            )


def _names(canonical: str, aliases: str) -> set[str]:
    """Return all names of a parameter: those written here and those that the LightGBM installed knows.

    It has no public way to ask for them, so that those written here are what holds.
    """
    from lightgbm import basic

    known = getattr(getattr(basic, "_ConfigAliases", None), "get", None)
    return {canonical, *aliases.split(), *(known(canonical) if known is not None else ())}
