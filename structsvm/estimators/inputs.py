"""Validate arguments of `fit`, `predict` and `score`: features, labels, and lists of inputs with one per example."""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d

from structsvm.exceptions import IdFeaturesWarning, InputError, OneQueryWarning, brief, first_of, stacklevel_of_user
from structsvm.features.operators import BinnedMatrix
from structsvm.features.operators.matrix import Readable, is_finite, is_matrix
from structsvm.foundation.arrays import is_sparse, numbers, objects, reads_as_number, refusal, require_real
from structsvm.foundation.frames import PartNames, is_frame, is_id, read_frame, read_graphs, read_inputs
from structsvm.foundation.queries import Queries, require_finite_labels, require_labels
from structsvm.foundation.types import Vector
from structsvm.losses import Loss, ScoreLoss
from structsvm.losses.shared.label_sets import indicator_matrix
from structsvm.models.drift import FeatureStatistics, ends_of, has_statistics
from structsvm.models.rows import checked_rows, require_finite, require_width


def checked_features(
    estimator: Any,
    X: Any,
    *,
    min_rows: int = 1,
    missing: bool = False,
    names: Sequence[str] | None = None,
    statistics: bool = False,
) -> Readable:
    """Return features for `fit`, float64 or float32, in C order, CSR or binned; store their number and names.

    The columns of a data frame are ``names`` of the features of trained trees, if given, else all. ``statistics`` also
    stores statistics of the features.
    """
    if is_frame(X):
        chosen = names is not None
        X, names = read_frame(X, names, "the trees were trained with")
        if not chosen:
            _warn_of_ids(names or ())
    found, ends = _rows(estimator, X, None, names, missing=missing, with_ends=statistics)
    rows: Readable = found.astype(np.float64, copy=False) if is_sparse(found) else found
    _require_size(rows, min_rows)
    estimator.n_features_in_ = rows.shape[1]
    keep_names(estimator, names)
    if statistics:
        estimator._statistics = FeatureStatistics.of(rows, ends)
    return rows


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


def keep_names(estimator: Any, names: Sequence[str] | None) -> None:
    """Set or remove ``feature_names_in_``."""
    estimator.__dict__.pop("feature_names_in_", None)
    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def count_queries(estimator: Any, queries: Queries) -> None:
    """Let the statistics of the training features count queries, because their rows are dependent."""
    if estimator._statistics is not None:
        estimator._statistics = estimator._statistics.with_queries(queries.sizes)


def features_as_fitted(estimator: Any, X: Any, *, min_rows: int = 1, missing: bool = False) -> Readable:
    """Return features for `predict`, like `checked_features`; columns are found by name if `fit` knew names."""
    d, names = estimator.n_features_in_, getattr(estimator, "feature_names_in_", None)
    rows: Readable
    rows, _ = _rows(estimator, X, d, names, missing=missing)
    _require_size(rows, min_rows)
    return rows


def _rows(
    estimator: Any, X: Any, d: int | None, names: Any, *, missing: bool, with_ends: bool = False
) -> tuple[Any, NDArray[Any] | None]:
    """Return checked features, and on request `ends_of` dense ones without NaN, which read them only once.

    Kinds of matrices that are always finite are returned unchanged.
    """
    title = type(estimator).__name__
    if is_finite(X):
        require_width(X, d, title)
        return X, None
    rows = checked_rows(X, title, d, names, sparse=True)
    if with_ends and isinstance(rows, np.ndarray) and rows.size and has_statistics(rows):
        ends = ends_of(rows)
        if np.isfinite(ends).all():
            return rows, ends
    require_finite(rows, missing=missing, names=names)
    return rows, None


def checked_labels(y: Any, n: int) -> Vector:
    """Return the labels of n rows as finite float64."""
    if getattr(y, "takes_the_place_of_labels", False):
        raise InputError(
            "y must have one label per row here, not Preferences: only RankSVM, RankBoost and RankNet learn from "
            "preferences, and measures need labels"
        )
    if y is None:
        raise InputError("a ranker requires y to be passed, but the target y is None: pass one label per row")
    require_real(y, "y")
    try:
        labels = numbers(column_or_1d(y, warn=True), "y")
    except (TypeError, ValueError) as error:
        raise InputError(f"y must have one number per row: {error}{_first_label(y)}") from None
    require_labels(labels, n)
    return labels


def validation_parts(validation: Any, *, with_qid: bool) -> tuple[Any, Any, Any]:
    """Return X, y and qid of ``validation``; refuse a missing qid if ``fit`` was given qid."""
    if not isinstance(validation, tuple | list) or len(validation) not in (2, 3):
        raise InputError("validation must be a tuple (X, y, qid), or (X, y) if all its rows are one query")
    X, y, qid = (*validation, None)[:3]
    if qid is None and with_qid:
        raise InputError("fit was given qid, so validation needs it too: pass validation=(X, y, qid)")
    return X, y, qid


def warn_of_one_query(qid: ArrayLike | None, rows: int) -> None:
    """Warn if ``qid`` is missing, because all rows are then one query."""
    if qid is None:
        warnings.warn(
            f"all {rows:,} rows are taken as one query because qid is missing: pass the query of each row, fit(X, y, "
            "qid=qid). In cross-validation, grid searches and pipelines, call "
            "sklearn.set_config(enable_metadata_routing=True), then cross_val_score(..., params={'qid': qid}): "
            "groups=qid only splits the rows. If all rows are one query, pass qid=np.zeros(len(y))",
            OneQueryWarning,
            stacklevel=stacklevel_of_user(),
        )


def checked_outputs(y: Any, loss: Any) -> NDArray[Any]:
    """Return the outputs of rows that are one example each: of any type, or an indicator matrix."""
    if loss.multilabel:
        return indicator_matrix(y)
    require_real(y, "y", dates=True)
    try:
        outputs: NDArray[Any] = column_or_1d(y, warn=True)
    except (TypeError, ValueError) as error:
        raise refusal(error, f"y must have one label per row: {error}") from None
    require_finite_labels(outputs)
    return outputs


def without_frames(
    loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any, names: PartNames = (None, None), owner: str = ""
) -> tuple[Any, PartNames]:
    """Replace data frames among inputs by arrays, as `read_inputs`, unless the loss reads inputs by itself.

    Without ``names``, the first frame has them.
    """
    if loss.reads_graphs:
        return read_graphs(xs, names, owner)
    if not loss.reads_rows:
        return xs, names
    nodes, edges = names
    xs, nodes = read_inputs(xs, nodes, owner)
    return xs, (nodes, edges)


class InputForm(NamedTuple):
    """The form of inputs that are matrices: a list of them, or vectors; `predict` requires the form of `fit`."""

    n_features: int
    matrices: bool

    @classmethod
    def of(cls, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> Self | None:
        """Return the form of the inputs of `fit`; None if the loss reads inputs by itself (``reads_rows`` is False)."""
        # Another check reports an empty list.
        if not _reads_rows(loss, xs) or _number_of(xs) == 0:
            return None
        shapes = _shapes(xs)
        if not shapes[0]:
            return None
        return cls(shapes[0][-1], not is_matrix(xs) and all(len(shape) == 2 for shape in shapes))


def require_form(
    estimator: BaseEstimator, form: InputForm | None, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any
) -> None:
    """Require inputs of the form that `InputForm.of` returned in `fit`."""
    if not _reads_rows(loss, xs) or form is None:
        return
    if _number_of(xs) == 0:
        raise InputError("there is no input to predict an output for")
    name = type(estimator).__name__
    if form.matrices and len(getattr(xs, "shape", ())) == 2:
        raise InputError(
            f"X is a single matrix, of shape {tuple(xs.shape)}, but {name} was fitted with a list of matrices, one per "
            "example: put it in a list, as in predict([x])"
        )
    shapes = _shapes(xs)
    if not all(shapes) or len({shape[-1] for shape in shapes}) > 1:
        # The loss refuses these inputs and names the faulty one.
        return
    for i, shape in enumerate(shapes):
        if shape[-1] != form.n_features:
            place = "X" if is_matrix(xs) else f"X[{i}]"
            raise InputError(f"{place} has {shape[-1]} features, but {name} is expecting {form.n_features}, as in fit")
        if form.matrices and len(shape) < 2:
            raise InputError(
                f"X[{i}] has shape {shape}, and {name} was fitted with a matrix for each example, one row a position: "
                "X is a list of matrices, as in predict([x]) for one; a matrix of one row is x[None, :]"
            )


def _reads_rows(loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> bool:
    """Return True if the loss leaves reading inputs to the engine; refuse anything but several inputs."""
    if getattr(xs, "shape", None) == () or not (hasattr(xs, "shape") or hasattr(xs, "__len__")):
        raise InputError(f"X must be a list of inputs, or a matrix with one per row, got {type(xs).__name__}")
    return loss.reads_rows


def _number_of(xs: Any) -> int:
    return int(xs.shape[0]) if hasattr(xs, "shape") else len(xs)


def _shapes(xs: Any) -> list[tuple[int, ...]]:
    """Return the shape of a matrix, or of each input; () for inputs that are not matrices of numbers."""
    return [_shape(x) for x in ([xs] if is_matrix(xs) else xs)]


def _shape(x: Any) -> tuple[int, ...]:
    if hasattr(x, "toarray") or is_finite(x):
        return tuple(x.shape)
    try:
        return numbers(x, "X").shape
    except InputError:
        return ()


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
