"""Read models from files: the one place that knows all classes that files hold."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve

from structsvm.exceptions import ModelFileError
from structsvm.foundation.settings import as_path
from structsvm.foundation.storage.files import read_archive
from structsvm.models.base import TrainedModel, read_model

__all__ = ["load"]

_TEXT_RANKER = "text_ranker"
"""Name of an array that only the file of a ``TextRanker`` has; the import of its module would be slow."""


def load(path: str | Path) -> Any:
    """Read a model from a file that an estimator's `save` or ``structsvm train`` wrote.

    The model needs NumPy only: neither numba nor scikit-learn is loaded. To continue training, read the estimator from
    the same file: ``Ranker.load(path)``, or ``load`` of another class.

    Parameters
    ----------
    path : the file. A model file of LightGBM, XGBoost or CatBoost is converted by `structsvm.models.from_ensemble`.

    Returns
    -------
    A `TrainedModel`; or the ``TextRanker``, with its indexes, if the file holds one.

    Raises
    ------
    ModelFileError : the file is not a model, is damaged, or has another format.
    NotInstalledError : XGBoost or CatBoost, which wrote the file, is missing.

    Examples
    --------
    >>> import structsvm
    >>> structsvm.Ranker(C=10.0).fit([[1.0, 0.0], [3.0, 1.0]], [0, 1], qid=[1, 1]).save("model.npz")
    >>> model = structsvm.load("model.npz")
    >>> other, relevant = model.predict([[0.0, 0.0], [2.0, 1.0]])
    >>> bool(relevant > other)
    True
    """
    model = _read(path, lambda arrays: None if _TEXT_RANKER in arrays else read_model(arrays))
    if model is None:
        from structsvm.text import TextRanker

        return TextRanker.load(path)
    if model.form == "joint" and model.training.estimator in ("StructuralSVM", "LatentStructuralSVM"):
        return evolve(model, estimator_of=_estimator_of)
    return model


def load_model(path: str | Path) -> TrainedModel:
    """Read a model that scores or shows weights; raise `ModelFileError` for the file of a ``TextRanker``."""

    def read(arrays: Mapping[str, Any]) -> TrainedModel:
        if _TEXT_RANKER in arrays:
            raise ModelFileError("it holds a TextRanker: read it with TextRanker.load")
        return read_model(arrays)

    model: TrainedModel = _read(path, read)
    return model


def _read(path: str | Path, read: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return the result of ``read`` for the arrays of a file, or convert a model file of another library."""
    try:
        return read_archive(path, read)
    except ModelFileError:
        # The import is slow, and most files are archives.
        from structsvm.models.ensembles import from_ensemble, library_of

        if library_of(as_path("path", path)) is None:
            raise
    return from_ensemble(path)


def _estimator_of(model: TrainedModel) -> Any:
    """Restore the structural SVM that trained a model; its import loads numba and scikit-learn."""
    from structsvm import estimators

    return getattr(estimators, model.training.estimator).from_model(model)
