"""Make models of the arrays of files."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from structsvm.exceptions import ModelFileError
from structsvm.foundation.settings import require_integer
from structsvm.foundation.storage.archives import record, text_array
from structsvm.models.base import FORMAT, TrainedModel
from structsvm.models.training import Training
from structsvm.result import require_format

_FORMS = {
    "linear": "LinearModel",
    "stumps": "StumpModel",
    "network": "NetworkModel",
    "trees": "TreeModel",
    "leaves": "LeafModel",
    "joint": "JointModel",
}
"""Modules of the forms of models, and their classes; only the form in the file is imported."""


def read_model(arrays: Mapping[str, Any]) -> TrainedModel:
    """Validate the arrays of a file and return their model; raise KeyError or ValueError if they are malformed."""
    if "model" not in arrays:
        if "result" in arrays:
            raise ModelFileError("the file contains a Result: read it with Result.load")
        raise ValueError("it holds no model")
    text = record(arrays, "model")
    require_format(text["format"], FORMAT)
    if text["form"] not in _FORMS:
        raise ValueError(f"unknown form of models {text['form']!r}")
    kind: type[TrainedModel] = getattr(import_module(f"structsvm.models.{text['form']}"), _FORMS[text["form"]])
    d = text["n_features"]
    require_integer("n_features", d, 0 if text["form"] == "joint" else 1)
    names = tuple(text_array(arrays, "feature_names", (d,)).tolist()) if "feature_names" in arrays else None
    calibration = _read_calibration(text["calibration"], arrays) if "calibration" in text else None
    reserved = {"model", "feature_names", *kind.array_names, *({} if calibration is None else calibration.arrays())}
    common = {"n_features": d, "feature_names": names, "calibration": calibration}
    model = kind.read(text, arrays, {**common, "training": Training.read(text, arrays, reserved)})
    # The record reads every entry of the file, so it raises if one is malformed.
    model.record  # noqa: B018
    return model


def _read_calibration(written: Any, arrays: Mapping[str, Any]) -> Any:
    # Most models do without the import, and a process that serves starts faster.
    from structsvm.models.calibration import Calibration

    return Calibration.read(written, arrays)
