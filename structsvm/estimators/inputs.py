"""Inputs that are matrices, one an example: those of `predict` must be like those of `fit`."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from structsvm.exceptions import InputError
from structsvm.losses import Loss, ScoreLoss
from structsvm.operators import BinnedMatrix


def checked_inputs(estimator: BaseEstimator, loss: ScoreLoss[Any] | Loss[Any, Any], xs: Any, *, reset: bool) -> Any:
    """Return a list of inputs; remember, or compare, how many features they have and whether each is a matrix.

    What a loss reads whose inputs are not rows of features (``reads_rows``) is the matter of that loss.

    Parameters
    ----------
    estimator : keeps what is remembered: ``n_features_in_`` and ``_matrices``.
    loss : the loss.
    xs : what was passed in: a list of matrices, or of vectors, which are one row; or a matrix with one
        example a row.
    reset : True to remember, False to compare.

    Raises
    ------
    InputError : when an input is not a matrix of numbers, or not like those of `fit`; it names the example.
    """
    if not hasattr(xs, "shape") and not hasattr(xs, "__len__"):
        raise InputError(f"X must be a list of inputs, or a matrix with one a row, got {type(xs).__name__}")
    if not loss.reads_rows:
        if reset and hasattr(estimator, "n_features_in_"):
            del estimator.n_features_in_
        return xs
    if (len(xs) if not hasattr(xs, "shape") else xs.shape[0]) == 0:
        if reset:
            return xs  # how many inputs and outputs there are is said elsewhere
        raise InputError("there is no input to predict an output for")
    shapes = [_shape(x) for x in (xs if _is_list(xs) else [xs])]
    if reset:
        if shapes[0]:
            estimator.n_features_in_ = shapes[0][-1]
            estimator._matrices = _is_list(xs) and all(len(shape) == 2 for shape in shapes)
        return xs
    name, d = type(estimator).__name__, estimator.n_features_in_
    if estimator._matrices and len(getattr(xs, "shape", ())) == 2:
        raise InputError(
            f"X is a single matrix, of shape {tuple(xs.shape)}, and {name} was fitted with a list of them, one an "
            "example: put it in a list, as in predict([x])"
        )
    if not all(shapes) or len({shape[-1] for shape in shapes}) > 1:
        return xs  # the loss cannot read them, and says which
    for i, shape in enumerate(shapes):
        if shape[-1] != d:
            place = f"X[{i}]" if _is_list(xs) else "X"
            raise InputError(f"{place} has {shape[-1]} features, but {name} is expecting {d}, as in fit")
        if estimator._matrices and len(shape) < 2:
            raise InputError(
                f"X[{i}] has shape {shape}, and {name} was fitted with a matrix for each example, one row a position: "
                "X is a list of matrices, as in predict([x]) for one; a matrix of one row is x[None, :]"
            )
    return xs


def _is_list(xs: Any) -> bool:
    return not hasattr(xs, "shape") or (isinstance(xs, np.ndarray) and xs.ndim != 2)


def _shape(x: Any) -> tuple[int, ...]:
    """Return the shape of an input; () where it is not a matrix of numbers."""
    if hasattr(x, "toarray") or isinstance(x, BinnedMatrix):
        return tuple(x.shape)
    try:
        return np.asarray(x, dtype=np.float64).shape
    except (TypeError, ValueError):
        return ()
