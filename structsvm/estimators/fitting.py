"""What both estimators do to fit: choose the solver, run it, say when it did not converge, or learned nothing."""

import warnings
from collections.abc import Iterable, Mapping, Set
from copy import copy
from typing import Any, TypeAlias, TypeVar

import numpy as np
import scipy.sparse as sp
from attrs import evolve, fields_dict, has
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.validation import validate_data

from structsvm.estimators.not_numbers import first_feature, first_label, first_not_finite
from structsvm.exceptions import InputError, ZeroWeightsWarning
from structsvm.losses import AveragePrecision, Loss, ScoreLoss
from structsvm.operators import BinnedMatrix, Readable
from structsvm.problem import Problem
from structsvm.registry import losses, solvers
from structsvm.result import Result, Status
from structsvm.solvers import Solver
from structsvm.solvers.run import Callback
from structsvm.types import Vector

_EXACT = 1e-9
Estimator = TypeVar("Estimator", bound=BaseEstimator)
AnyLoss: TypeAlias = ScoreLoss[Any] | Loss[Any, Any]


def minimise(
    problem: Problem,
    solver: str | Solver,
    tol: float | None,
    start: Result | None,
    callback: Callback | None,
    *,
    loss: str | AnyLoss,
    ranks: bool = False,
    other_losses: bool = True,
    stacklevel: int = 3,
) -> Result:
    """Solve a problem and warn where the gap that was asked for is not reached, or all weights are 0.

    Parameters
    ----------
    problem : the problem.
    solver : name or object.
    tol : replaces that of the solver; None leaves it.
    start : an earlier result to go on from.
    callback : is shown every step.
    loss : the loss of the problem as it was given, by name or as an object.
    ranks : whether outputs are rankings.
    other_losses : whether the user may choose another loss, which the warning then suggests.
    stacklevel : of the warnings; 3 is the caller of the caller.
    """
    chosen = solvers.create(solver)
    if tol is not None:
        if not has(type(chosen)) or "tol" not in fields_dict(type(chosen)):
            raise InputError(f"the solver {type(chosen).__name__} has no setting tol: leave tol=None")
        chosen = evolve(chosen, tol=tol)
    result: Result = chosen.solve(problem, start=start, callback=callback)
    if not result.converged:
        within = "is within" if result.exact else "is estimated to be within"
        warnings.warn(
            f"{result.message}; P(w) {within} {result.gap / result.C:.2g} * C of the optimum, "
            f"and {result.tol:.2g} * C was asked for",
            ConvergenceWarning,
            stacklevel=stacklevel,
        )
    elif not result.w.any():
        said = zero_weights(result, loss, ranks=ranks, other_losses=other_losses)
        warnings.warn(said, ZeroWeightsWarning, stacklevel=stacklevel)
    return result


def minimise_path(
    problem: Problem,
    Cs: Iterable[float],
    solver: str | Solver,
    tol: float | None,
    callback: Callback | None,
    *,
    loss: str | AnyLoss,
    ranks: bool = False,
    other_losses: bool = True,
) -> dict[float, Result]:
    """Solve a problem at several values of C in ascending order, each from the result of the one before.

    Parameters
    ----------
    problem, solver, tol, callback, loss, ranks, other_losses : as in `minimise`.
    Cs : the values, in any order.

    Returns
    -------
    The result of each value; after Ctrl-C, or when the callback stops, of those that were reached.
    """
    results: dict[float, Result] = {}
    result = None
    for C in sorted(set(Cs)):
        try:
            result = minimise(
                problem.with_C(C),
                solver,
                tol,
                result,
                callback,
                loss=loss,
                ranks=ranks,
                other_losses=other_losses,
                stacklevel=4,
            )
        except KeyboardInterrupt:  # in its first iteration: there is nothing of this C
            if not results:
                raise
            break
        results[C] = result
        problem = evolve(problem, known_fingerprint=result.fingerprint)  # of the same data for the next C
        if result.status in (Status.INTERRUPTED, Status.STOPPED):
            break
    return results


def rankers_along(first: Estimator, Cs: Iterable[float], results: dict[float, Result]) -> list[Estimator]:
    """Return a fitted copy of an estimator for each value of a path that was reached.

    Parameters
    ----------
    first : has what `fit` sets before it minimises, and ``_take``, which takes a result.
    Cs : the values of C, in the order of what is returned.
    results : what `minimise_path` returned.
    """
    fitted: dict[float, Estimator] = {}
    for C, result in results.items():
        fitted[C] = copy(first).set_params(C=C)
        fitted[C]._take(result)
    return [fitted[C] for C in Cs if C in fitted]


def zero_weights(result: Result, loss: str | AnyLoss, *, ranks: bool, other_losses: bool = True) -> str:
    """Say what it means that the optimum is w = 0, and what may help.

    Parameters
    ----------
    result : its gap says whether w = 0 is the optimum to rounding, or near it.
    loss : the loss that was optimised, by name or as an object.
    ranks : whether outputs are rankings.
    other_losses : whether the user may choose another loss.
    """
    made, ways = losses.create(loss), ["a larger C"]
    name = loss if isinstance(loss, str) else type(loss).__name__
    found = f"The hinge of {name} cannot be lowered on these data at this C"
    if result.gap > _EXACT * result.C:
        ways.append("a smaller tol")
        found = f"No weights lower the objective of {name} on these data by more than {result.gap / result.C:.2g} * C"
    if getattr(made, "k", None) is not None:
        ways.append("a loss without cut-off or with a larger one")
    if ranks and other_losses and not isinstance(made, AveragePrecision):
        ways.append("the loss 'map'")
    equal = "all scores are equal" if ranks else "all outputs have the same score"
    return (
        f"the optimum found is w = 0: {equal}. {found}: "
        f"try {' or '.join(filter(None, [', '.join(ways[:-1]), ways[-1]]))}"
    )


def checked_features(
    estimator: BaseEstimator, X: Any, *, reset: bool, min_rows: int = 1, missing: bool = False
) -> Readable:
    """Return X as float64 or float32 in C order, as CSR or as a `BinnedMatrix`, and remember (or compare) its width.

    Parameters
    ----------
    estimator : keeps the number of features, and their names.
    X : what was passed in.
    reset : True to remember, False to compare.
    min_rows : fewest rows that make sense.
    missing : whether NaN is allowed, for a value that is missing.

    Raises
    ------
    InputError : when X is not such a matrix; it names the first row and column at fault.
    """
    dtype = np.float64 if sp.issparse(X) else (np.float64, np.float32)
    binned = isinstance(X, BinnedMatrix)
    _require_table(X)
    try:
        if binned:
            _require_size(X, min_rows)
        checked: Readable = validate_data(
            estimator,
            X,
            reset=reset,
            skip_check_array=binned,
            accept_sparse="csr",
            dtype=dtype,
            order="C",
            ensure_min_samples=min_rows,
            ensure_all_finite="allow-nan" if missing else True,
        )
    except ValueError as error:
        raise InputError(str(error) if binned else _in_our_words(str(error), X, missing)) from None
    return checked


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
    try:
        labels = np.asarray(column_or_1d(y, warn=True), dtype=np.float64)
    except ValueError as error:
        raise InputError(f"y must hold one number per row: {error}{first_label(y)}") from None
    if len(labels) != n:
        raise InputError(f"X has {n} rows but y has {len(labels)} labels: one label a row is needed")
    require_finite_labels(labels)
    return labels


def require_finite_labels(y: Any) -> None:
    """Refuse labels of rows that are NaN or infinite; those that are no floats can be neither."""
    labels = np.asarray(y)
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise InputError(f"y contains NaN or infinity: the first is label {int(np.argmin(np.isfinite(labels)))}")


def _require_table(X: Any) -> None:
    if X is None or (isinstance(X, str | Mapping | Set) and not sp.issparse(X)):
        way_out = "; of columns by name, pandas.DataFrame(X) makes one" if isinstance(X, Mapping) else ""
        raise InputError(
            f"X must be a table of numbers, a document or example a row, got {type(X).__name__}: pass an array, a "
            f"sparse matrix or a data frame{way_out}"
        )


def _require_size(X: BinnedMatrix, min_rows: int) -> None:
    rows, columns = X.shape
    if rows < min_rows:
        raise InputError(f"found a BinnedMatrix of {rows} rows, and a minimum of {min_rows} is required")
    if columns == 0:
        raise InputError(
            "found a BinnedMatrix of 0 features, and a minimum of 1 is required: no function has thresholds"
        )


def _in_our_words(error: str, X: Any, missing: bool) -> str:
    """Say where the first number is that is not finite; for missing ones, what this library does about them."""
    try:
        place = first_not_finite(X, infinite_only=missing)
    except (TypeError, ValueError):
        return f"{error}{first_feature(X)}"
    first = error.partition("\n")[0]
    if not place or not first.endswith("contains NaN."):
        return f"{error}\n{place}: remove or replace such values." if place else error
    return (
        f"{first} {place}. If NaN stands for a missing score, structsvm.features.FillMissing puts a number in its "
        "place, and structsvm.features.Thresholds makes indicators, of which a missing score satisfies none"
    )
