"""Read models from files."""

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from structsvm.exceptions import ModelFileError
from structsvm.foundation.settings import require_integer
from structsvm.foundation.storage.archives import record, text_array
from structsvm.foundation.storage.files import read_archive
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

TEXT_RANKER = "text_ranker"
"""Additional array in the file of a ``TextRanker``."""


def load(path: str | Path) -> Any:
    """Read a model from a file that an estimator's `save` or ``structsvm train`` wrote.

    The model needs NumPy only: neither numba nor scikit-learn is loaded. To continue training, read the estimator from
    the same file: ``Ranker.load(path)``, or ``load`` of another class.

    Parameters
    ----------
    path : the file.

    Returns
    -------
    A `TrainedModel`; or the ``TextRanker``, with its indexes, if the file holds one.

    Raises
    ------
    ModelFileError : the file is not a model, is damaged, or has another format.

    Examples
    --------
    >>> import structsvm
    >>> structsvm.Ranker(C=10.0).fit([[1.0, 0.0], [3.0, 1.0]], [0, 1], qid=[1, 1]).save("model.npz")
    >>> model = structsvm.load("model.npz")
    >>> other, relevant = model.predict([[0.0, 0.0], [2.0, 1.0]])
    >>> bool(relevant > other)
    True
    """
    model = read_archive(path, lambda arrays: None if TEXT_RANKER in arrays else read_model(arrays))
    if model is None:
        return import_module("structsvm.text").TextRanker.load(path)
    return model


def load_model(path: str | Path) -> TrainedModel:
    """Read a model; raise `ModelFileError` for the file of a ``TextRanker``."""

    def read(arrays: Mapping[str, Any]) -> TrainedModel:
        if TEXT_RANKER in arrays:
            raise ModelFileError("it holds a TextRanker: read it with TextRanker.load")
        return read_model(arrays)

    return read_archive(path, read)


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
    own = {"model", "feature_names", *kind.own, *({} if calibration is None else calibration.arrays())}
    known = {"n_features": d, "feature_names": names, "calibration": calibration}
    model = kind.read(text, arrays, {**known, "training": Training.read(text, arrays, own)})
    # The record reads every entry of the file, so it raises if one is malformed.
    model.record  # noqa: B018
    return model


def _read_calibration(written: Any, arrays: Mapping[str, Any]) -> Any:
    # Most models do without the import, and a process that serves starts faster.
    from structsvm.models.calibration import Calibration

    return Calibration.read(written, arrays)
