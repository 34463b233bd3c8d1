"""A weighted sum of features as plain JSON, for a reader of one's own."""

import json
from pathlib import Path

from structsvm.export.base import Form, Format


class PlainJSON(Format):
    """An object with ``features``, ``weights``, ``intercept`` and ``normalise``.

    The score of a document is ``intercept`` and the sum of ``weights[k]`` times feature k, of those that
    ``features[k]`` names where there are names. Where ``normalise`` is not null, features are first normalised within
    the query: "query-min-max" is ``(x - min) / (max - min)``, "query-z-score" ``(x - mean) / deviation``, a divisor of
    0 being 1; and where ``centred`` is false nothing is subtracted.
    """

    by_query = True

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`."""
        content = {
            "kind": "structsvm linear ranker",
            "features": None if form.names is None else list(form.names),
            "weights": form.weights.tolist(),
            "intercept": form.constant,
            "normalise": None if form.by_query is None else form.by_query.name,
            "centred": None if form.by_query is None else form.by_query.centred,
        }
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
