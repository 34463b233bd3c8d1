"""How a ranker was trained, as a record for people and programs."""

from typing import Any

import numpy as np

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


def training_record(ranker: RankingEstimator) -> dict[str, Any]:
    """Return what is known of the training of a ranker, by name: texts and numbers, None where there is none.

    Parameters
    ----------
    ranker : fitted, or loaded.
    """
    record: dict[str, Any] = {"ranker": type(ranker).__name__}
    parameters = ranker.get_params(deep=False)
    if "loss" in parameters:
        record["loss"] = _named(parameters["loss"])
    result = getattr(ranker, "result_", None)
    if isinstance(result, Result):
        record |= {
            "C": result.C,
            "solver": result.solver_name,
            "status": result.message,
            "primal": result.primal,
            "dual": result.dual,
            "gap_over_C": result.gap / result.C,
            "tol": result.tol,
        }
        if result.history:
            record |= {"iterations": result.history[-1].iteration, "seconds": result.history[-1].seconds}
    else:
        record |= {name: value for name, value in parameters.items() if isinstance(value, bool | int | float | str)}
    record |= _limits(ranker, parameters)
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
        return [None] * ranker.n_features_in_
    low, high = bounds_of(ranker, len(ranker.coef_)) or (-np.inf, np.inf)
    codes = (ranker.coef_ == low) + 2 * (ranker.coef_ == high)
    return [(None, "low", "high", "both")[code] for code in codes.tolist()]


def _named(loss: Any) -> str:
    if isinstance(loss, str):
        return loss
    return (losses.spell(loss) if losses.holds(loss) else None) or repr(loss)
