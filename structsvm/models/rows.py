"""Validate the features that a model scores, without scikit-learn but with the messages of the estimators."""

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.arrays import FLOATS, first_feature, is_sparse, refusal, require_real, require_table, reworded
from structsvm.foundation.categories import read_encoded
from structsvm.foundation.frames import is_frame
from structsvm.foundation.sparse import as_csr
from structsvm.foundation.types import Vector


def checked_rows(
    X: Any,
    title: str,
    n_features: int | None,
    names: Sequence[str] | None,
    sparse: bool,
    categories: Sequence[str] = (),
) -> Any:
    """Return features as float64 or float32 in C order, or as CSR, finite or not.

    ``names`` and ``categories`` match columns of frames.
    """
    require_table(X)
    if is_frame(X):
        X, _ = read_encoded(X, categories, names, f"{title} was fitted with")
    if hasattr(X, "tocsr"):
        if not sparse:
            raise InputError(not_sparse(title, X))
        if not is_sparse(X):
            X = X.tocsr()
        if not is_sparse(X):
            raise InputError(f"X must be an array, or a sparse matrix of SciPy's, got {type(X).__name__}")
        rows = as_csr(X)
        if rows.ndim < 2:
            raise InputError(f"X must be a matrix, got shape {rows.shape}: if it is one row, pass X.reshape(1, -1)")
    else:
        rows = _dense(X, title)
    require_width(rows.shape[1], n_features, title)
    return rows


def require_width(columns: float, n_features: int | None, title: str) -> None:
    """Refuse another number of features than the model's; None allows any number."""
    if n_features is not None and columns != n_features:
        raise InputError(f"X has {columns} features, but {title} is expecting {n_features} features as input.")


def _dense(X: Any, title: str) -> Any:
    """Return features as an array of float64 or float32 in C order."""
    require_real(X, "X")
    try:
        rows = np.asarray(X)
        dimensions = rows.ndim
        with np.errstate(over="ignore"):
            rows = np.ascontiguousarray(rows, None if rows.dtype in FLOATS and rows.ndim else np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(error, f"{error}{first_feature(X)}") from None
    if dimensions < 2:
        raise InputError(_flat(dimensions, np.asarray(X)))
    if rows.ndim > 2:
        raise InputError(f"Found array with dim {rows.ndim}, while dim <= 2 is required by {title}.")
    return rows


def require_finite(X: Any, *, missing: bool, names: Sequence[str] | None = None) -> None:
    """Refuse infinite features, and NaN unless features may be missing; messages use ``names`` of columns."""
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # Summing is faster than checking every value.
        if isfinite(np.add.reduce(values, axis=None)):
            return
    nan = np.isnan(values).any()
    if (nan and not missing) or np.isinf(values).any():
        what = "NaN" if nan and not missing else f"infinity or a value too large for dtype({values.dtype.name!r})"
        raise InputError(reworded(f"Input X contains {what}.", X, missing, names))


def filled(X: Any, fill: Vector | float) -> Any:
    """Return features with NaN replaced by a number, or by the number of their column; X itself without NaN."""
    values = X.data if is_sparse(X) else X
    missing = np.isnan(values)
    if not missing.any():
        return X
    out = X.copy()
    if is_sparse(X):
        out.data[missing] = np.broadcast_to(fill, X.shape[1])[X.indices[missing]]
    else:
        np.copyto(out, fill, casting="same_kind", where=missing)
    return out


def not_sparse(title: str, X: Any) -> str:
    """Return the message that an estimator does not accept sparse features."""
    return (
        f"{title} takes dense features: sparse input ({type(X).__name__}) is not supported. Pass X.toarray(), or leave "
        "out features that are seldom present"
    )


def _flat(dimensions: int, array: Any) -> str:
    shape = "scalar array" if dimensions == 0 else "1D array"
    return (
        f"Expected 2D array, got {shape} instead:\narray={array}.\nReshape your data either using "
        "array.reshape(-1, 1) if your data has a single feature or array.reshape(1, -1) if it contains a single sample."
    )
