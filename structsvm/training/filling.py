"""Replace missing features (NaN) before a fit of weights; the model stores the replacements."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from structsvm.exceptions import InputError, brief
from structsvm.features.operators.matrix import is_finite
from structsvm.foundation.settings import is_number, place
from structsvm.foundation.types import Vector
from structsvm.models.rows import filled

STATISTICS = ("median", "mean")
"""Statistics of training rows that replace missing features."""


def require_missing(what: str, missing: Any) -> None:
    """Require a name in `STATISTICS`, a finite number or None."""
    if not (missing is None or is_number(missing) or (isinstance(missing, str) and missing in STATISTICS)):
        raise InputError(f"{what} must be 'median', 'mean', a finite number or None, got {brief(missing)}")


def without_missing(owner: str, missing: Any, X: Any, names: Sequence[str] | None) -> tuple[Any, Vector | None]:
    """Return training rows after the parameter ``missing``, and the replacement of each feature; None if it is None."""
    require_missing(place(owner, "missing"), missing)
    if missing is None or is_finite(X):
        return X, None
    if missing in STATISTICS:
        from sklearn.impute import SimpleImputer

        fill = np.asarray(SimpleImputer(strategy=missing).fit(X).statistics_, dtype=np.float64)
        if np.isnan(fill).any():
            column = int(np.isnan(fill).argmax())
            called = f"column {column}" if names is None else repr(names[column])
            raise InputError(
                f"X has only missing values in {called}, which therefore has no {missing}: leave the column out, or "
                "choose a number (missing=0, or --missing 0 on the command line)"
            )
    else:
        fill = np.full(X.shape[1], float(missing))
    return filled(X, fill), fill
