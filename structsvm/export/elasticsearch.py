"""The Learning to Rank plugin of Elasticsearch, and of OpenSearch: a body for ``_createmodel`` of a feature set.

https://elasticsearch-learning-to-rank.readthedocs.io/en/latest/training-models.html. The plugin computes in float32.
"""

import json
from pathlib import Path
from typing import Any

from structsvm.export.base import Form, Format


class Elasticsearch(Format):
    """JSON of a ``model/linear``, whose features are those of the same names in the feature set.

    A ranker that standardises has the feature normalizer ``standard`` for each feature.
    """

    constant = False

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`."""
        form.require_float32("Elasticsearch")
        names = form.called("Elasticsearch")
        model: dict[str, Any] = {"type": "model/linear"}
        if form.standard is not None:
            model["feature_normalizers"] = {
                name: {"standard": {"mean": mean, "standard_deviation": deviation}}
                for name, mean, deviation in zip(names, *form.standard.listed, strict=True)
            }
        model["definition"] = json.dumps(dict(zip(names, form.of_normalised.tolist(), strict=True)))
        body = {"model": {"name": model_name, "model": model}}
        path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
