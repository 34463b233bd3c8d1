"""Write a weighted sum of features as plain JSON or NumPy arrays, for custom readers."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from structsvm.features.scaling.scalings import QueryScaling
from structsvm.models import LinearModel
from structsvm.models.export.base import Format


class PlainJSON(Format):
    """An object with ``features``, ``weights``, ``intercept`` and ``normalize``.

    The score of a document is ``intercept`` plus the sum of ``weights[k]`` times feature k. ``features`` has the names
    of the features, if any. If ``normalize`` is not null, normalize features within the query first: "query-min-max" is
    ``(x - min) / (max - min)``, "query-z-score" ``(x - mean) / deviation``. Replace a divisor of 0 by 1, and subtract
    nothing if ``centered`` is false.
    """

    by_query = True
    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        by_query = model.scaling if isinstance(model.scaling, QueryScaling) else None
        content = {
            "kind": "structsvm linear ranker",
            "features": None if model.feature_names is None else list(model.feature_names),
            "weights": model.coef.tolist(),
            "intercept": model.intercept,
            "normalize": None if by_query is None else by_query.name,
            "centered": None if by_query is None else by_query.centered,
        }
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


class NumPyArchive(Format):
    """An npz file with arrays ``coef`` and ``intercept``, and ``names`` if there are names.

    If features are normalized within the query, ``normalize`` and ``centered`` are as in `PlainJSON`.
    """

    by_query = True
    named = False

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        arrays: dict[str, Any] = {"coef": model.coef, "intercept": np.array(model.intercept)}
        if model.feature_names is not None:
            arrays["names"] = np.array(model.feature_names)
        if isinstance(model.scaling, QueryScaling):
            arrays |= {"normalize": np.array(model.scaling.name), "centered": np.array(model.scaling.centered)}
        with path.open("wb") as file:
            np.savez(file, **arrays)
