"""LambdaMART: boosted trees, by LightGBM."""

from __future__ import annotations  # `help` shows the types by name, not as the long unions that they are

import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from structsvm.estimators.fitting import checked_features
from structsvm.estimators.parameters import measure_of, random_of, require_integer, require_number
from structsvm.estimators.ranking import RankingEstimator
from structsvm.exceptions import InputError, NotInstalledError
from structsvm.metrics import Measure
from structsvm.operators import BinnedMatrix, Readable
from structsvm.rankers.held_out import HeldOut, require_patience
from structsvm.rankers.lightgbm_params import require_fixed_trees, require_params_of_its_own
from structsvm.rankers.training import checked_training, usable_queries
from structsvm.types import Vector


class LambdaMART(RankingEstimator):
    """Boosted regression trees whose gradients are those of RankNet times the change of NDCG of swapping a pair.

    Burges, "From RankNet to LambdaRank to LambdaMART: an overview" (MSR-TR-2010-82), section 7; trees are grown by
    LightGBM (objective ``lambdarank``). Needs the extra: ``pip install 'structural-svm[lambdamart]'``.

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
    >>> LambdaMART(min_child_samples=1, params={"min_data_in_bin": 1}).fit(X, y).score(X, y)  # doctest: +SKIP
    1.0
    """

    __metadata_request__fit: ClassVar[dict[str, Any]] = {"qid": True, "sample_weight": True}

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

    def fit(
        self,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        validation: tuple[Any, ...] | None = None,
    ) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : features, one document a row, shape (rows, d); dense, CSR or a `BinnedMatrix`, of which LightGBM reads a
            CSR copy. NaN where a feature is missing: a split sends such rows to the side that is better in training.
        y : grades, shape (rows,): whole numbers of at least 0. A document gains ``2^grade − 1``, unless ``params`` has
            another ``label_gain``; without it 30 is the largest grade.
        qid : query id of each row (not group sizes); rows of a query need not be together.
            None: all rows are one query.
        sample_weight : weight of each row, the same for all rows of a query. Only ratios matter: the largest counts 1.
        validation : (X, y, qid) of other queries, or (X, y) of one query, y being labels: the number of trees that is
            best on them by ``measure`` is kept, the first among equals. None: all trees.

        Raises
        ------
        InputError : when the data or a parameter cannot be used; ``validation`` cannot with the boosting "dart", by
            which later trees change earlier ones. Where it is LightGBM that finds it, its compiled code also writes a
            line to the standard error, which could be kept back for the whole process only.
        NotInstalledError : when LightGBM is not installed or cannot be loaded.

        Warns
        -----
        UserWarning : when no tree has a split, so that all scores are equal.
        """
        lightgbm = _lightgbm()
        self._require_settings()
        random = random_of(self)
        training = checked_training(self, X, y, qid, sample_weight, missing=True)
        grades = _grades(training.y)
        require_patience(self, validation)
        if validation is not None:
            require_fixed_trees(self.params or {})
        held_out = HeldOut.of(self, validation, missing=True)
        usable_queries(self, training, training.with_pairs())
        size = np.diff(training.ptr)
        by_row = None if sample_weight is None else np.repeat(training.shares, size)
        data = lightgbm.Dataset(_matrix(training.X), grades, group=size, weight=by_row)
        self._grow(lightgbm, data, held_out, random)
        return self

    def predict(self, X: Any) -> Vector:
        """Return the score of each row; within a query, larger is ahead. Shape (rows,)."""
        check_is_fitted(self, "booster_")
        return self._scores(_matrix(checked_features(self, X, reset=False, missing=True)), 0, self.best_iteration_)

    def staged_predict(self, X: Any) -> Iterator[Vector]:
        """Yield the score of each row after each tree that is kept; the last are those of `predict`.

        Parameters
        ----------
        X : as in `predict`.

        Yields
        ------
        Scores, shape (rows,): ``best_iteration_`` times.
        """
        check_is_fitted(self, "booster_")
        rows = _matrix(checked_features(self, X, reset=False, missing=True))
        scores = np.zeros(rows.shape[0])
        for tree in range(self.best_iteration_):
            scores = scores + self._scores(rows, tree, 1)
            yield scores

    def _grow(self, lightgbm: ModuleType, data: Any, held_out: HeldOut | None, random: np.random.RandomState) -> None:
        given = {"deterministic": True, "force_row_wise": True, "verbosity": -1} | dict(self.params or {})
        given |= {
            "objective": "lambdarank",
            "metric": "None",
            "learning_rate": float(self.learning_rate),
            "num_leaves": int(self.num_leaves),
            "min_child_samples": int(self.min_child_samples),
            "seed": int(random.randint(np.iinfo(np.int32).max)),
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
                stacklevel=3,
            )
        self.booster_ = booster
        self.validation_scores_: Vector | None = np.array(values) if values else None
        self.best_iteration_ = int(np.argmax(values)) + 1 if values else int(booster.current_iteration())

    def _scores(self, rows: Any, first: int, trees: int) -> Vector:
        scores = self.booster_.predict(rows, start_iteration=first, num_iteration=trees, raw_score=True)
        return np.asarray(scores, dtype=np.float64)

    def _require_settings(self) -> None:
        require_integer(self, "n_estimators", 1)
        require_number(self, "learning_rate", above=0.0)
        require_integer(self, "num_leaves", 2)
        require_integer(self, "min_child_samples", 1)
        if self.params is not None and not isinstance(self.params, dict):
            raise InputError(f"LambdaMART(params=...) must be a dict of parameters of LightGBM, got {self.params!r}")
        require_params_of_its_own(self.params or {})
        measure_of(self)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags


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
    rows: Any = X.tocsr() if isinstance(X, BinnedMatrix) else X
    return rows if isinstance(rows, np.ndarray) else sp.csr_matrix(rows)
