"""Write a weighted sum of features as plain JSON, NumPy arrays, or a model file of svm_rank."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from structsvm.features.scaling.scalings import QueryScaling
from structsvm.models import LinearModel
from structsvm.models.export.base import Format, require_float32, write_json


class PlainJSON(Format):
    """An object with ``features``, ``weights``, ``intercept`` and ``normalize``.

    The score of a document is ``intercept`` plus the sum of ``weights[k]`` times feature k. ``features`` has the names
    of the features, if any. If ``normalize`` is not null, normalize features within the query first: "query-min-max" is
    ``(x - min) / (max - min)``, "query-z-score" ``(x - mean) / deviation``. Replace a divisor of 0 by 1, and subtract
    nothing if ``centered`` is false. If ``fill`` is not null, replace each missing feature by its number before.
    """

    by_query = True
    fills = True
    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        content = {"features": model.feature_names, "weights": model.coef.tolist(), "intercept": model.intercept}
        write_json(path, {"kind": "structsvm linear ranker", **content, **_preparation(model)})


class NumPyArchive(Format):
    """An npz file with arrays ``coef`` and ``intercept``, ``names`` if there are names, and ``fill`` as in `PlainJSON`.

    If features are normalized within the query, ``normalize`` and ``centered`` are as in `PlainJSON`.
    """

    by_query = True
    fills = True
    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        values = {"coef": model.coef, "intercept": model.intercept, "names": model.feature_names, **_preparation(model)}
        arrays: dict[str, Any] = {name: np.array(value) for name, value in values.items() if value is not None}
        with path.open("wb") as file:
            np.savez(file, **arrays)


def _preparation(model: LinearModel) -> dict[str, Any]:
    scaling = model.scaling if isinstance(model.scaling, QueryScaling) else None
    normalization = {"normalize": getattr(scaling, "name", None), "centered": getattr(scaling, "centered", None)}
    return {**normalization, "fill": None if model.fill is None else model.fill.tolist()}


_HEAD = (
    "SVM-light Version V6.20",
    "0 # kernel type",
    "3 # kernel parameter -d ",
    "1 # kernel parameter -g ",
    "1 # kernel parameter -s ",
    "1 # kernel parameter -r ",
    "empty# kernel parameter -u ",
)
"""Lines of a linear kernel; svm_rank_classify refuses other versions."""


class SVMRank(Format):
    """A file whose only support vector is the vector of weights; features are numbered from 1."""

    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        """Write the weights; svm_rank subtracts the threshold b from scores."""
        require_float32("svm_rank", model.coef)
        path.write_text("\n".join([*self._lines(model), ""]), encoding="ascii")

    def _lines(self, model: LinearModel) -> Iterator[str]:
        yield from _HEAD
        yield f"{len(model.coef)} # highest feature index "
        yield "0 # number of training documents "
        yield "2 # number of support vectors plus 1 "
        yield f"{-model.intercept + 0.0!r} # threshold b, each following line is a SV (starting with alpha*y)"
        there = np.flatnonzero(model.coef)
        yield f"1 {''.join(f'{k + 1}:{model.coef[k]:.9g} ' for k in there.tolist())}#"
