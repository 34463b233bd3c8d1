"""What `fit`, `predict` and `score` are given: features, labels, and lists of inputs, one an example."""

import warnings
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from structsvm.arrays import in_our_words, numbers, reads_as_number, refusal, require_real, require_table
from structsvm.exceptions import InputError, OneQueryWarning, stacklevel_of_user
from structsvm.losses import Loss, ScoreLoss
from structsvm.operators import BinnedMatrix, Readable, readable
from structsvm.operators.matrix import is_finite
from structsvm.queries import require_finite_labels, require_labels
from structsvm.serving.rows import checked_rows, require_finite
from structsvm.types import Vector

MOST_ROWS_OF_A_QUERY = 10_000
"""Rows that one query plausibly has: as many as LightGBM's lambdarank takes. Pools of TREC have some 5000 a topic."""


def checked_features(estimator: BaseEstimator, X: Any, *, min_rows: int = 1, missing: bool = False) -> Readable:
    """Return features to fit as float64 or float32 in C order, as CSR or as a `BinnedMatrix`.

    Parameters
    ----------
    estimator : keeps the number of features, and their names.
    X : what was passed in.
    min_rows : fewest rows that make sense.
    missing : whether NaN is allowed, for a value that is missing.

    Raises
    ------
    InputError : when X is not such a matrix; it names the first row and column at fault.
    """
    dtype = np.float64 if sp.issparse(X) else (np.float64, np.float32)
    finite = is_finite(X)
    require_table(X)
    if sp.issparse(X):
        X = readable(X)
    elif not finite:
        require_real(X, "X")
    try:
        if finite:
            _require_size(X, min_rows)
        checked: Readable = validate_data(
            estimator,
            X,
            skip_check_array=finite,
            accept_sparse="csr",
            dtype=dtype,
            order="C",
            ensure_min_samples=min_rows,
            ensure_all_finite="allow-nan" if missing else True,
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(error, None if finite else in_our_words(str(error), X, missing)) from None
    return checked


def features_as_fitted(estimator: Any, X: Any, *, min_rows: int = 1, missing: bool = False) -> Readable:
    """Return features to predict from, like those of `checked_features`, with the columns that `fit` was given.

    Columns of a data frame are found by name if `fit` knew names; see `structsvm.arrays.by_name`.

    Raises
    ------
    InputError : when X is not such a matrix, or lacks a column; it names the first row and column at fault.
    """
    title, d = type(estimator).__name__, estimator.n_features_in_
    if is_finite(X):
        rows: Any = X
        if X.shape[1] != d:
            raise InputError(f"X has {X.shape[1]} features, but {title} is expecting {d} features as input.")
    else:
        rows = checked_rows(X, title, d, getattr(estimator, "feature_names_in_", None), sparse=True)
        require_finite(rows, missing=missing)
    _require_size(rows, min_rows)
    return rows  # type: ignore[no-any-return]


def checked_labels(y: Any, n: int) -> Vector:
    """Return the labels of n rows as float64.

    Raises
    ------
    InputError : when they are not n finite numbers.
    """
    if getattr(y, "takes_the_place_of_labels", False):
        raise InputError(
            "y must hold one label per row here, not Preferences: RankSVM, RankBoost and RankNet learn from these, and "
            "measures are of labels"
        )
    if y is None:
        raise InputError("a ranker requires y to be passed, but the target y is None: pass one label per row")
    require_real(y, "y")
    try:
        labels = numbers(column_or_1d(y, warn=True), "y")
    except (TypeError, ValueError) as error:
        raise InputError(f"y must hold one number per row: {error}{_first_label(y)}") from None
    require_labels(labels, n)
    return labels


def warn_of_one_query(qid: ArrayLike | None, rows: int) -> None:
    """Warn where there is no ``qid`` and more rows than one query plausibly has.

    Parameters
    ----------
    qid : what was passed in.
    rows : number of rows.
    """
    if qid is None and rows > MOST_ROWS_OF_A_QUERY:
        warnings.warn(
            f"all {rows:,} rows are taken as one query, as no qid was given, and a query seldom has more than "
            f"{MOST_ROWS_OF_A_QUERY:,}: give fit(X, y, qid=qid) the query of each row. If they are one query, "
            "qid=np.zeros(len(y)) says so",
            OneQueryWarning,
            stacklevel=stacklevel_of_user(),
        )


def checked_outputs(y: Any) -> NDArray[Any]:
    """Return the outputs of rows that are an example each, whatever they are.

    Raises
    ------
    InputError : when they are no vector of them, or some are missing.
    """
    require_real(y, "y", dates=True)
    try:
        outputs: NDArray[Any] = column_or_1d(y, warn=True)
    except (TypeError, ValueError) as error:
        raise refusal(error, f"y must hold one label per row: {error}") from None
    require_finite_labels(outputs)
    return outputs


class InputForm(NamedTuple):
    """What inputs that are matrices, one an example, are like: those of `predict` must be like those of `fit`.

    Parameters
    ----------
    n_features : number of columns of each.
    matrices : whether they are matrices in a list, and not vectors, or the rows of one matrix.
    """

    n_features: int
    matrices: bool

    @classmethod
    def of(cls, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> Self | None:
        """Return the form of the inputs of `fit`; None where only the loss can say what they are.

        A loss whose inputs are not rows of features (``reads_rows``) takes what it likes.

        Parameters
        ----------
        loss : the loss.
        xs : a list of matrices, or of vectors, which are one row; or a matrix with one example a row.

        Raises
        ------
        InputError : when there are not several inputs.
        """
        if not _reads_rows(loss, xs) or _number_of(xs) == 0:  # that there are none is said elsewhere
            return None
        shapes = [_shape(x) for x in _listed(xs)]
        if not shapes[0]:
            return None
        return cls(shapes[0][-1], _is_list(xs) and all(len(shape) == 2 for shape in shapes))


def require_form(
    estimator: BaseEstimator, form: InputForm | None, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any
) -> None:
    """Require inputs like those of `fit`.

    Parameters
    ----------
    estimator : what is to predict, for the message.
    form : what `InputForm.of` returned in `fit`.
    loss, xs : as there.

    Raises
    ------
    InputError : when one is not; it names the example.
    """
    if not _reads_rows(loss, xs) or form is None:
        return
    if _number_of(xs) == 0:
        raise InputError("there is no input to predict an output for")
    name = type(estimator).__name__
    if form.matrices and len(getattr(xs, "shape", ())) == 2:
        raise InputError(
            f"X is a single matrix, of shape {tuple(xs.shape)}, and {name} was fitted with a list of them, one an "
            "example: put it in a list, as in predict([x])"
        )
    shapes = [_shape(x) for x in _listed(xs)]
    if not all(shapes) or len({shape[-1] for shape in shapes}) > 1:
        return  # the loss cannot read them, and says which
    for i, shape in enumerate(shapes):
        if shape[-1] != form.n_features:
            place = f"X[{i}]" if _is_list(xs) else "X"
            raise InputError(f"{place} has {shape[-1]} features, but {name} is expecting {form.n_features}, as in fit")
        if form.matrices and len(shape) < 2:
            raise InputError(
                f"X[{i}] has shape {shape}, and {name} was fitted with a matrix for each example, one row a position: "
                "X is a list of matrices, as in predict([x]) for one; a matrix of one row is x[None, :]"
            )


def _reads_rows(loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any) -> bool:
    """Say whether a loss leaves the reading of inputs to the engine, after a look whether there are several."""
    if getattr(xs, "shape", None) == () or not (hasattr(xs, "shape") or hasattr(xs, "__len__")):
        raise InputError(f"X must be a list of inputs, or a matrix with one a row, got {type(xs).__name__}")
    return loss.reads_rows


def _number_of(xs: Any) -> int:
    return int(xs.shape[0]) if hasattr(xs, "shape") else len(xs)


def _is_list(xs: Any) -> bool:
    return not hasattr(xs, "shape") or (isinstance(xs, np.ndarray) and xs.ndim != 2)


def _listed(xs: Any) -> Any:
    return xs if _is_list(xs) else [xs]


def _shape(x: Any) -> tuple[int, ...]:
    """Return the shape of an input; () where it is not a matrix of numbers."""
    if hasattr(x, "toarray") or is_finite(x):
        return tuple(x.shape)
    try:
        return numbers(x, "X").shape
    except InputError:
        return ()


def _require_size(X: Readable, min_rows: int) -> None:
    rows, columns = X.shape
    if rows < min_rows:
        raise InputError(f"found a {type(X).__name__} of {rows} rows, and a minimum of {min_rows} is required")
    if columns == 0:
        raise InputError(
            f"found a {type(X).__name__} of 0 features, and a minimum of 1 is required"
            f"{': no function has thresholds' if isinstance(X, BinnedMatrix) else ''}"
        )


def _first_label(y: Any) -> str:
    """Name the first label that is not a number, and the way out; "" where all are numbers."""
    for row, label in enumerate(np.ravel(np.asarray(y, dtype=object))):
        if not reads_as_number(label):
            return f"\nThe first is label {row}, {label!r}: make numbers of them, as in np.where(y == {label!r}, 1, 0)."
    return ""
