"""What the transformers refuse."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from structsvm.arrays import refusal, require_real
from structsvm.exceptions import InputError
from structsvm.types import Matrix


def checked_scores(transformer: BaseEstimator, X: Any, *, reset: bool) -> Matrix:
    """Return the scores of base functions as float64 or float32, NaN where a score is missing.

    Parameters
    ----------
    transformer : keeps the number of functions, and their names.
    X : what was passed in.
    reset : True to remember the number, False to compare.

    Raises
    ------
    InputError : when X is sparse or no matrix of numbers, has another number of columns than before, or a
        score is infinite; it names the first.
    """
    if hasattr(X, "toarray"):
        raise InputError(
            f"{type(transformer).__name__} takes dense scores: sparse input ({type(X).__name__}) is not supported. "
            "Pass X.toarray(), with NaN where a score is missing"
        )
    require_real(X, "X")
    try:
        scores: Matrix = validate_data(
            transformer, X, reset=reset, dtype=(np.float64, np.float32), ensure_all_finite=False
        )
    except (TypeError, ValueError, OverflowError) as error:
        raise refusal(error) from None
    infinite = np.isinf(scores)
    if infinite.any():
        row, column = np.unravel_index(int(infinite.argmax()), scores.shape)
        raise InputError(
            f"X contains infinity: {infinite.sum()} scores are infinite, the first is at row {row}, column {column}. "
            "Give documents that a function did not retrieve NaN, and others a finite score"
        )
    return scores
