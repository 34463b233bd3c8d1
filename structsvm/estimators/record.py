"""How a model was trained, as a record for people and programs."""

from typing import Any

import numpy as np

from structsvm.estimators.descending import SavedDescent
from structsvm.estimators.model_file import SavedEstimator
from structsvm.estimators.parameters import bounds_of
from structsvm.estimators.ranking import RankingEstimator
from structsvm.estimators.written_settings import written_setting
from structsvm.registry import losses
from structsvm.result import Result

_COUNTS = {
    "best_iteration_": "best_iteration",
    "n_features_in_": "features",
    "n_examples_": "examples",
    "n_left_out_": "left_out",
}


def training_record(ranker: RankingEstimator | SavedEstimator) -> dict[str, Any]:
    """Return what is known of the training of a model, by name: texts and numbers, None where there is none.

    Parameters
    ----------
    ranker : fitted, or loaded; a structural SVM, too.
    """
    record: dict[str, Any] = {
        "ranker" if isinstance(ranker, RankingEstimator) else "estimator": type(ranker).__name__,
    }
    parameters = ranker.get_params(deep=False)
    if "loss" in parameters:
        record["loss"] = _named(parameters["loss"])
    result = getattr(ranker, "result_", None)
    if isinstance(result, Result):
        record |= {"C": result.C, "solver": result.solver_name}
        record |= _descent(ranker, result) if isinstance(ranker, SavedDescent) else _certificate(result)
        record["tol"] = result.tol
        if result.history and not isinstance(ranker, SavedDescent):  # that of a descent is of one round alone
            record |= {"iterations": result.history[-1].iteration, "seconds": result.history[-1].seconds}
    else:
        record |= {name: value for name, value in parameters.items() if isinstance(value, bool | int | float | str)}
    record |= _limits(ranker, parameters)
    if isinstance(ranker, RankingEstimator):
        record["normalise"] = parameters.get("normalise")
    counts = {name: getattr(ranker, key, None) for key, name in _COUNTS.items()}
    record |= {name: int(count) for name, count in counts.items() if count is not None}
    trained = getattr(ranker, "trained_", None)
    if trained is not None and trained.choice is not None:
        record["choice"] = trained.choice
    return record | {
        "trained": None if trained is None else trained.time,
        "version": None if trained is None else trained.version,
    }


def _certificate(result: Result) -> dict[str, Any]:
    return {
        "status": result.message,
        "primal": result.primal,
        "dual": result.dual,
        "gap_over_C": result.gap / result.C,
    }


def _descent(estimator: SavedDescent, result: Result) -> dict[str, Any]:
    """Return what is certified of a descent: never the gap of its objective, which is not convex."""
    stationary = getattr(estimator, "stationary_", None)
    rounds = getattr(estimator, "rounds_", None)
    said = {
        True: "stationary within 2 tol * C, which the last convex problem proved",
        False: "not proved stationary",
        None: "whether it is stationary is not in its file, which an earlier version wrote",
    }[stationary]
    return {
        "status": f"{said}. The last convex problem: {result.message}",
        "stationary": stationary,
        "objective": getattr(estimator, "objective_", None),
        "rounds": None if rounds is None else len(rounds),
        "last_gap_over_C": result.gap / result.C,
    }


def _limits(ranker: Any, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the bounds of the weights, where there are some, and how many weights are at one."""
    names = ("bounds", "monotonic_cst")
    given = {name: written_setting(name, parameters[name]) for name in names if parameters.get(name) is not None}
    limits = bounds_of(ranker, len(ranker.coef_)) if given else None
    if limits is None:
        return {}
    at = [end for end in at_bounds(ranker) if end is not None]
    return {**given, "weights_at_a_bound": len(at)}


def at_bounds(ranker: Any) -> "list[str | None]":
    """Return for each weight of a ranker by a weighted sum which bound it is at.

    Parameters
    ----------
    ranker : fitted, or loaded.

    Returns
    -------
    list : "low", "high", or "both" where they are the same; None where it is at neither, or there are none.
    """
    if not any(getattr(ranker, name, None) is not None for name in ("bounds", "monotonic_cst")):
        return [None] * (ranker.n_features_in_ if isinstance(ranker, RankingEstimator) else len(ranker.coef_))
    low, high = bounds_of(ranker, len(ranker.coef_)) or (-np.inf, np.inf)
    codes = (ranker.coef_ == low) + 2 * (ranker.coef_ == high)
    return [(None, "low", "high", "both")[code] for code in codes.tolist()]


def _named(loss: Any) -> str:
    if isinstance(loss, str):
        return loss
    return (losses.spell(loss) if losses.holds(loss) else None) or repr(loss)
