"""Apache Solr's Learning To Rank: a ``LinearModel`` for its model store.

https://solr.apache.org/guide/solr/latest/query-guide/learning-to-rank.html. Solr computes in float32.
"""

import json
from pathlib import Path
from typing import Any

from structsvm.export.base import Form, Format


class Solr(Format):
    """JSON of a LinearModel, whose features are those of the same names in Solr's feature store.

    A ranker that standardises has a ``StandardNormalizer`` for each feature.
    """

    constant = False

    def write(self, form: Form, path: Path, model_name: str) -> None:
        """See `Format.write`; numbers of normalizers are text, and weights have a point, as Solr reads no others."""
        form.require_float32("Solr")
        names, weights = form.called("Solr"), form.of_normalised
        features: list[dict[str, Any]] = [{"name": name} for name in names]
        if form.standard is not None:
            for feature, mean, deviation in zip(features, *form.standard.listed, strict=True):
                params = {"avg": repr(mean), "std": repr(deviation)}
                feature["norm"] = {"class": "org.apache.solr.ltr.norm.StandardNormalizer", "params": params}
        model = {
            "class": "org.apache.solr.ltr.model.LinearModel",
            "name": model_name,
            "features": features,
            "params": {"weights": dict(zip(names, weights.tolist(), strict=True))},
        }
        path.write_text(json.dumps(model, indent=2) + "\n", encoding="utf-8")
