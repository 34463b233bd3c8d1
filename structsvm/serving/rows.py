"""What a served model is given to score: a matrix, checked without scikit-learn, in the words of the estimators."""

from typing import Any

import numpy as np

from structsvm.arrays import first_feature, in_our_words, is_sparse, refusal, require_real, require_table
from structsvm.exceptions import InputError

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))


def checked_rows(X: Any, title: str, n_features: int, names: tuple[str, ...] | None, sparse: bool) -> Any:
    """Return features as float64 or float32 in C order, or as CSR; whether they are finite is not looked at.

    Parameters
    ----------
    X : what was passed in.
    title : the estimator, for messages.
    n_features : number of features that the model has.
    names : their names, which the columns of a data frame must have.
    sparse : whether they may be sparse.

    Raises
    ------
    InputError : when X is not a matrix of that width.
    """
    require_table(X)
    if hasattr(X, "tocsr"):
        if not sparse:
            raise InputError(not_sparse(title, X))
        if is_sparse(X):
            require_real(X, "X")
        rows = X.tocsr()
        if not hasattr(rows, "indptr"):
            raise InputError(f"X must be an array, or a sparse matrix of SciPy's, got {type(X).__name__}")
        _require_shape(rows, title, n_features)
        return rows if rows.dtype in _FLOATS else rows.astype(np.float64)
    require_real(X, "X")
    _require_names(X, names)
    try:
        rows = np.asarray(X)
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(rows, None if rows.dtype in _FLOATS and rows.ndim else np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(error, f"{error}{first_feature(X)}") from None
    if np.ndim(X) < 2:
        raise InputError(_flat(np.ndim(X), np.asarray(X)))
    if rows.ndim > 2:
        raise InputError(f"Found array with dim {rows.ndim}, while dim <= 2 is required by {title}.")
    _require_shape(rows, title, n_features)
    return rows


def by_name(X: Any, names: tuple[str, ...] | None) -> Any:
    """Return the columns of a data frame that have these names, in their order; anything else as it is."""
    columns = getattr(X, "columns", None)
    if names is None or columns is None or list(columns) == list(names) or not set(names) <= set(columns):
        return X
    return X[list(names)]


def require_finite(X: Any, *, missing: bool) -> None:
    """Refuse infinite features, and NaN where no feature may be missing.

    Raises
    ------
    InputError : it names the first.
    """
    values = X.data if is_sparse(X) else X
    nan = np.isnan(values).any()
    if (nan and not missing) or np.isinf(values).any():
        what = "NaN" if nan and not missing else f"infinity or a value too large for dtype({values.dtype.name!r})"
        raise InputError(in_our_words(f"Input X contains {what}.", X, missing))


def not_sparse(title: str, X: Any) -> str:
    """Say that an estimator takes no sparse features."""
    return (
        f"{title} takes dense features: sparse input ({type(X).__name__}) is not supported. Pass X.toarray(), or leave "
        "out features that are seldom present"
    )


def _require_shape(rows: Any, title: str, n_features: int) -> None:
    if rows.shape[1] != n_features:
        raise InputError(f"X has {rows.shape[1]} features, but {title} is expecting {n_features} features as input.")


def _require_names(X: Any, names: tuple[str, ...] | None) -> None:
    """Refuse a data frame with the columns of another one, or with these in another order."""
    columns = getattr(X, "columns", None)
    if names is None or columns is None or list(columns) == list(names) or not all(isinstance(n, str) for n in columns):
        return
    strange, lacking = sorted(set(columns) - set(names)), sorted(set(names) - set(columns))
    told = "The feature names should match those that were passed during fit.\n"
    for what, which in (
        ("Feature names unseen at fit time:", strange),
        ("Feature names seen at fit time, yet now missing:", lacking),
    ):
        if which:
            told += "\n".join([what, *(f"- {name}" for name in which[:5]), *(["- ..."] if len(which) > 5 else []), ""])
    if not strange and not lacking:
        told += "Feature names must be in the same order as they were in fit.\n"
    raise InputError(told)


def _flat(dimensions: int, array: Any) -> str:
    found = "scalar array" if dimensions == 0 else "1D array"
    return (
        f"Expected 2D array, got {found} instead:\narray={array}.\nReshape your data either using "
        "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
    )
