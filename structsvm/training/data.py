"""Check training data: rows of features with labels, query ids and weights."""

import warnings
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import ArrayLike, NDArray

from structsvm.exceptions import IdFeaturesWarning, InputError, OneQueryWarning, brief, first_of, stacklevel_of_user
from structsvm.features.operators import BinnedMatrix, Operator
from structsvm.features.operators.matrix import Readable, is_finite
from structsvm.foundation.arrays import is_sparse, numbers, objects, reads_as_number, require_real
from structsvm.foundation.categories import categories_in, read_encoded, values_of
from structsvm.foundation.frames import is_frame, is_id, rows_of_frame
from structsvm.foundation.queries import Queries, require_labels, row_weights
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.models.drift import FeatureStatistics, ends_of, has_statistics
from structsvm.models.rows import checked_rows, require_finite, require_width
from structsvm.training.preferences import Preferences


@frozen(eq=False, slots=False)
class TrainingData:
    """Rows of features with labels or preferences, query ids and weights, all checked by `of`.

    Parts that `subset` returns need no further checks.

    Parameters
    ----------
    owner : name of the estimator for messages.
    X : features, float64 or float32 in C order, CSR, binned, or an `Operator`.
    y : labels of rows, shape (rows,), or `Preferences`.
    qid : query id of each row; None: all rows are one query.
    weight : weight of each row; None: all 1.
    names : names of the features, or None.
    categories : columns of the data frame that are categories.
    frame : the data frame that X is from, or None; estimators of other libraries are fitted to its rows.
    queries, ends : groups of rows, and the least and the greatest value of each column; computed when None.

    Examples
    --------
    >>> data = TrainingData.of("Ranker", [[1.0], [2.0], [4.0]], [0, 0, 1], [1, 1, 1])
    >>> data.rows, data.n_features, data.subset(np.array([0, 2])).y
    (3, 1, array([0., 1.]))
    """

    owner: str
    X: Any
    y: Any
    qid: NDArray[Any] | None = None
    weight: Vector | None = field(default=None, repr=False)
    names: tuple[str, ...] | None = field(default=None, repr=False)
    categories: tuple[str, ...] = field(default=(), repr=False)
    frame: Any = field(default=None, repr=False)
    _queries: Queries | None = field(default=None, repr=False)
    _ends: Matrix | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls,
        owner: str,
        X: Any,
        y: Any,
        qid: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        *,
        missing: bool = False,
        takes_preferences: bool = False,
        names: Sequence[str] | None = None,
    ) -> Self:
        """Check the arguments of a fit.

        ``missing`` allows NaN in features, ``takes_preferences`` allows `Preferences` instead of labels. ``names``
        selects columns of a data frame, as trained trees require; None: all.
        """
        if isinstance(X, Operator):
            n = int(X.ptr[-1])
            return cls._grouped(owner, X, checked_labels(y, n), n, qid, weight)
        rows, names, categories, ends = read_features(owner, X, min_rows=2, missing=missing, names=names, encode=True)
        n = rows.shape[0]
        if takes_preferences:
            _require_no_pairs(owner, y)
        preferences = takes_preferences and isinstance(y, Preferences)
        labels = y if preferences else checked_labels(y, n)
        frame = X if names is not None else None
        return cls._grouped(
            owner, rows, labels, n, qid, weight, names=names, categories=categories, frame=frame, ends=ends
        )

    @classmethod
    def _grouped(cls, owner: str, X: Any, y: Any, n: int, qid: Any, weight: Any, **more: Any) -> Self:
        """Check the query ids and weights of n rows."""
        queries = None if qid is None else Queries.of(qid, n)
        ids = None if qid is None else np.asarray(qid)
        weights = None if weight is None else row_weights(weight, n)
        return cls(owner, X, y, ids, weights, queries=queries, **more)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return int(self.X.ptr[-1]) if isinstance(self.X, Operator) else int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, or of weights of an operator."""
        return int(self.X.d if isinstance(self.X, Operator) else self.X.shape[1])

    @cached_property
    def queries(self) -> Queries:
        """The queries of the rows."""
        return Queries.of(self.qid, self.rows) if self._queries is None else self._queries

    @property
    def groups(self) -> Any:
        """Query ids, which no split divides."""
        return self.qid

    @property
    def units(self) -> str:
        """Plural of the word for the parts of folds."""
        return "rows" if self.qid is None else "queries"

    @property
    def extent(self) -> str:
        """Number of validation queries, in words."""
        queries = 1 if self.qid is None else len(np.unique(self.qid))
        return f"{queries} validation {'query' if queries == 1 else 'queries'}"

    @property
    def inputs(self) -> Any:
        """The data frame that the features are from, else the features."""
        return self.X if self.frame is None else self.frame

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of ``fit`` beside X and y."""
        return {"qid": self.qid} | ({} if self.weight is None else {"sample_weight": self.weight})

    def subset(self, rows: IntVector) -> Self:
        """Return the data of some rows."""
        return evolve(
            self,
            X=self.X[rows],
            y=self.y[rows],
            qid=None if self.qid is None else self.qid[rows],
            weight=None if self.weight is None else self.weight[rows],
            frame=None if self.frame is None else rows_of_frame(self.frame, rows),
            queries=None,
            ends=None,
        )

    def statistics(self, *, by_row: bool = False) -> FeatureStatistics | None:
        """Return statistics of the features, None for operators; ``by_row``: without query ids, rows are queries."""
        if isinstance(self.X, Operator):
            return None
        statistics = FeatureStatistics.of(self.X, self._ends)
        if statistics is None or (by_row and self.qid is None):
            return statistics
        return statistics.with_queries(self.queries.sizes)

    def warn_of_one_query(self) -> None:
        """Warn if query ids are missing, because all rows are then one query."""
        if self.qid is None:
            warnings.warn(
                f"all {self.rows:,} rows are taken as one query because qid is missing: pass the query of each row, "
                "fit(X, y, qid=qid). In cross-validation, grid searches and pipelines, call "
                "sklearn.set_config(enable_metadata_routing=True), then cross_val_score(..., params={'qid': qid}): "
                "groups=qid only splits the rows. If all rows are one query, pass qid=np.zeros(len(y))",
                OneQueryWarning,
                stacklevel=stacklevel_of_user(),
            )


def read_features(
    owner: str,
    X: Any,
    *,
    min_rows: int = 1,
    missing: bool = False,
    names: Sequence[str] | None = None,
    encode: bool = False,
) -> tuple[Readable, tuple[str, ...] | None, tuple[str, ...], Matrix | None]:
    """Return features for a fit, float64 or float32, in C order, CSR or binned, and `ends_of` dense ones.

    Between them are the names of the features, and the columns of a data frame that are categories, if ``encode``.

    The columns of a data frame are ``names`` of the features of trained trees, if given, else all.
    """
    categories: tuple[str, ...] = ()
    if is_frame(X):
        selected = names is not None
        declared = [c for c in (categories_in(X) if encode else ()) if not selected or values_of(c, names or ())]
        X, names = read_encoded(X, declared, names, "the trees were trained with")
        categories = tuple(column for column in declared if values_of(column, names or ()))
        if not selected:
            _warn_of_ids(names or ())
    rows, ends = _rows(owner, X, None, names, missing=missing, with_ends=True)
    rows = rows.astype(np.float64, copy=False) if is_sparse(rows) else rows
    _require_size(rows, min_rows)
    return rows, None if names is None else tuple(map(str, names)), categories, ends


def features_as_fitted(estimator: Any, X: Any, *, min_rows: int = 1, missing: bool = False) -> Readable:
    """Return features for `predict`, as `read_features`; columns are found by name if the fit knew names."""
    d, names = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
    rows: Readable
    if is_frame(X):
        owner = f"{type(estimator).__name__} was fitted with"
        X, _ = read_encoded(X, getattr(estimator, "_categories", ()), names, owner)
    rows, _ = _rows(type(estimator).__name__, X, d, names, missing=missing)
    _require_size(rows, min_rows)
    return rows


def _rows(
    owner: str, X: Any, d: int | None, names: Any, *, missing: bool, with_ends: bool = False
) -> tuple[Any, NDArray[Any] | None]:
    """Return checked features, and on request `ends_of` dense ones without NaN, which read them only once.

    Kinds of matrices that are always finite are returned unchanged.
    """
    if is_finite(X):
        require_width(X.shape[1], d, owner)
        return X, None
    rows = checked_rows(X, owner, d, names, sparse=True)
    if with_ends and isinstance(rows, np.ndarray) and rows.size and has_statistics(rows):
        ends = ends_of(rows)
        if np.isfinite(ends).all():
            return rows, ends
    require_finite(rows, missing=missing, names=names)
    return rows, None


def checked_labels(y: Any, n: int) -> Vector:
    """Return the labels of n rows as finite float64."""
    if isinstance(y, Preferences):
        raise InputError(
            "y must have one label per row here, not Preferences: only RankSVM, RankBoost and RankNet learn from "
            "preferences, and measures need labels"
        )
    if y is None:
        raise InputError("a ranker requires y to be passed, but the target y is None: pass one label per row")
    require_real(y, "y")
    try:
        labels = numbers(column(y), "y")
    except (TypeError, ValueError) as error:
        raise InputError(f"y must have one number per row: {error}{_first_label(y)}") from None
    require_labels(labels, n)
    return labels


def column(y: Any) -> NDArray[Any]:
    """Return a vector; warn if it is a matrix of one column, as all estimators of scikit-learn do."""
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "biuf":
        return y
    from sklearn.utils import column_or_1d

    vector: NDArray[Any] = column_or_1d(y, warn=True)
    return vector


def validation_data(
    estimator: Any, validation: Any, *, with_qid: bool, min_rows: int = 1, missing: bool = False
) -> TrainingData:
    """Check held-out queries, (X, y, qid) or (X, y), whose features are as in ``fit``; refuse a missing qid."""
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise InputError("validation must be a tuple (X, y, qid), or (X, y) if all its rows are one query")
    X, y, qid = (*validation, None)[:3]
    if qid is None and with_qid:
        raise InputError("fit was given qid, so validation needs it too: pass validation=(X, y, qid)")
    if isinstance(y, Preferences):
        raise InputError("measures need labels: the y of validation must have a label for each row, not Preferences")
    try:
        rows = features_as_fitted(estimator, X, min_rows=min_rows, missing=missing)
        labels = checked_labels(y, rows.shape[0])
        queries, ids = Queries.of(qid, len(labels)), None if qid is None else np.asarray(qid)
    except InputError as error:
        raise InputError(f"validation cannot be used: {error}") from None
    return TrainingData(type(estimator).__name__, rows, labels, ids, queries=queries)


def _warn_of_ids(names: Sequence[str]) -> None:
    """Warn of features with names of ids, labels or a saved index; `load_table` leaves out such columns."""
    strange = [name for name in names if is_id(name) or name.lower() == "label"]
    if strange:
        listed = first_of(map(repr, strange))
        warnings.warn(
            f"X has features with names of ids, labels or a saved index, which may reveal the labels: {listed}. Leave "
            f"them out, as in X.drop(columns=[{strange[0]!r}]), or rename true features",
            IdFeaturesWarning,
            stacklevel=stacklevel_of_user(),
        )


def _require_size(X: Readable, min_rows: int) -> None:
    rows, columns = X.shape
    if rows < min_rows:
        # scikit-learn's checks of estimators require these words.
        raise InputError(f"X has {rows} sample(s) (shape={X.shape}) while a minimum of {min_rows} is required.")
    if columns == 0:
        raise InputError(
            f"X has 0 feature(s) (shape={X.shape}) while a minimum of 1 is required."
            f"{' No function has thresholds.' if isinstance(X, BinnedMatrix) else ''}"
        )


def _require_no_pairs(owner: str, y: Any) -> None:
    if not isinstance(y, list | tuple | np.ndarray) or getattr(y, "shape", None) == () or len(y) == 0:
        return
    if all(isinstance(pair, list | tuple | np.ndarray) and np.size(pair) in (2, 3) for pair in y):
        raise InputError(
            f"y must have one label per row, or Preferences, got {len(y)} entries of 2 or 3 each: if they are pairs "
            f"(better, worse) or (better, worse, magnitude), {owner} learns from y = Preferences.of(pairs), of "
            "structsvm.rankers"
        )


def _first_label(y: Any) -> str:
    """Name the first label that is not a number and suggest a fix; return "" if all are numbers."""
    if isinstance(y, str):
        return f"\nGot the text {brief(y)}: pass the labels, such as the column X[{brief(y)}] of a data frame."
    labels = np.ravel(objects(y))
    for row, label in enumerate(labels):
        if not reads_as_number(label):
            values = first_of(dict.fromkeys(map(brief, labels)))
            return (
                f"\nThe first is label {row}, {brief(label)}: make numbers of the labels, as in "
                f"[int(label == RELEVANT) for label in y] for the label that means relevant, one of {values}."
            )
    return ""
