"""A fitted ranker as arrays in a file."""

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from structsvm.exceptions import ModelFileError
from structsvm.registry import Registry, losses, solvers
from structsvm.result import Result

if TYPE_CHECKING:
    from structsvm.estimators.ranker import Ranker

_FORMAT = 1


def ranker_arrays(ranker: "Ranker") -> dict[str, Any]:
    """Return a fitted ranker as arrays. A loss without a registered name is kept as text: enough to predict."""
    settings = {
        "loss": _text(losses, ranker.loss),
        "C": float(ranker.C),
        "solver": _text(solvers, ranker.solver),
        "tol": ranker.result_.tol,
        "fit_intercept": bool(ranker.fit_intercept),
        "intercept_scaling": float(ranker.intercept_scaling),
        "measure": None if ranker.measure is None else str(ranker.measure),
    }
    fitted = {
        "n_features_in_": ranker.n_features_in_,
        "n_examples_": ranker.n_examples_,
        "n_left_out_": ranker.n_left_out_,
        "_fitted_with_qid": ranker._fitted_with_qid,
    }
    text = json.dumps({"format": _FORMAT, "settings": settings, "fitted": fitted})
    arrays = {"ranker": np.array(text), **ranker.result_.arrays()}
    if hasattr(ranker, "feature_names_in_"):
        arrays["feature_names_in_"] = np.asarray(ranker.feature_names_in_, dtype=str)
    return arrays


def read_ranker(arrays: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any], Result]:
    """Return the settings, the fitted attributes and the result that `ranker_arrays` wrote.

    Raises
    ------
    ModelFileError : when a newer version wrote them.
    """
    text = json.loads(str(arrays["ranker"]))
    if text["format"] > _FORMAT:
        raise ModelFileError("it was written by a newer version of structural-svm: upgrade to read it")
    fitted = text["fitted"]
    if "feature_names_in_" in arrays:
        fitted["feature_names_in_"] = arrays["feature_names_in_"].astype(object)
    return text["settings"], fitted, Result.from_arrays(arrays)


def _text(registry: Registry[Any], thing: Any) -> str:
    return thing if isinstance(thing, str) else registry.name_of(thing) or repr(thing)
