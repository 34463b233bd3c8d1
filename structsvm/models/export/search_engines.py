"""Linear models for Learning to Rank in Solr, Elasticsearch and OpenSearch, which compute in float32.

https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html and
https://elasticsearch-learning-to-rank.readthedocs.io/en/latest/training-models.html.
"""

import json
from pathlib import Path
from typing import Any

from structsvm.features.scaling.scalings import StandardScaling
from structsvm.models import LinearModel
from structsvm.models.export.base import Format, names_for, require_float32


class Solr(Format):
    """JSON of a ``LinearModel`` for Solr's model store, whose features have the names in the feature store.

    With ``normalize="standard"``, each feature has a ``StandardNormalizer``, whose numbers Solr reads as text.
    """

    constant = False
    standard = True

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        require_float32("Solr", model)
        names = names_for("Solr", model)
        features: list[dict[str, Any]] = [{"name": name} for name in names]
        if isinstance(model.scaling, StandardScaling):
            for feature, mean, deviation in zip(features, *model.scaling.listed, strict=True):
                params = {"avg": repr(mean), "std": repr(deviation)}
                feature["norm"] = {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": params}
        content = {
            "class": "org.apache.solr.ltr.model.LinearModel",
            "name": model_name,
            "features": features,
            "params": {"weights": dict(zip(names, model.coef.tolist(), strict=True))},
        }
        path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


class Elasticsearch(Format):
    """JSON of a ``model/linear``, a body for ``_createmodel`` of a feature set with the same names.

    With ``normalize="standard"``, each feature has the feature normalizer ``standard``.
    """

    constant = False
    standard = True

    def write(self, model: LinearModel, path: Path, model_name: str) -> None:
        require_float32("Elasticsearch", model)
        names = names_for("Elasticsearch", model)
        content: dict[str, Any] = {"type": "model/linear"}
        if isinstance(model.scaling, StandardScaling):
            content["feature_normalizers"] = {
                name: {"standard": {"mean": mean, "standard_deviation": deviation}}
                for name, mean, deviation in zip(names, *model.scaling.listed, strict=True)
            }
        content["definition"] = json.dumps(dict(zip(names, model.coef.tolist(), strict=True)))
        body = {"model": {"name": model_name, "model": content}}
        path.write_text(json.dumps(body, indent=2) + "\n", encoding="utf-8")
