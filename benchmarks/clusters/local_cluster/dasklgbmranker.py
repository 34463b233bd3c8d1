"""LightGBM's lambdarank on a Dask cluster."""

from typing import Any

from benchmarks.clusters.local_cluster.model import Model


def fitted(client: Any, parts: Any, **settings: Any) -> Model:
    import lightgbm

    ranker = lightgbm.DaskLGBMRanker(client=client, verbosity=-1, **settings)
    ranker.fit(parts.X, parts.y, group=parts.group)
    return Model(ranker.to_local().predict)
