"""Corrections of p-values for multiple tests."""

from collections.abc import Iterable

import numpy as np

from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import as_list, is_number


def bonferroni(p_values: Iterable[float | None]) -> list[float | None]:
    """Return each p-value times the number of tests, at most 1; None means no test and is kept."""
    p_values = _checked(p_values)
    m = sum(p is not None for p in p_values)
    return [None if p is None else min(1.0, m * p) for p in p_values]


def holm(p_values: Iterable[float | None]) -> list[float | None]:
    """Correct p-values for multiple tests by Holm's step-down method.

    The k-th smallest of m p-values is multiplied by m − k + 1, and larger p-values get no smaller results. None is
    kept. The method rejects at least as many hypotheses as Bonferroni's. Holm, "A simple sequentially rejective
    multiple test procedure", Scandinavian Journal of Statistics 1979.

    Parameters
    ----------
    p_values : p-values of the tests.

    Raises
    ------
    InputError : a p-value is not a number from 0 to 1.

    Examples
    --------
    >>> holm([0.01, 0.04, None, 0.03])
    [0.03, 0.06, None, 0.06]
    """
    p_values = _checked(p_values)
    tested = [place for place, p in enumerate(p_values) if p is not None]
    defined = np.array([p for p in p_values if p is not None], dtype=np.float64)
    order = np.argsort(defined, kind="stable")
    stepped = np.minimum(np.maximum.accumulate(defined[order] * np.arange(len(defined), 0, -1)), 1.0)
    corrected: list[float | None] = [None] * len(p_values)
    for place, p in zip(order.tolist(), stepped.tolist(), strict=True):
        corrected[tested[place]] = p
    return corrected


def _checked(p_values: Iterable[float | None]) -> list[float | None]:
    listed = as_list("p_values", p_values, "a list of p-values")
    for p in listed:
        if p is not None and (not is_number(p, at_least=0.0) or p > 1):
            raise InputError(f"a p-value must be a number from 0 to 1, or None for no test, got {brief(p)}")
    return listed
