"""This library's ranker on a Dask cluster."""

from typing import Any

from benchmarks.clusters.local_cluster.model import Model


def fitted(client: Any, parts: Any, **settings: Any) -> Model:
    from structsvm.distributed import DaskRanker

    ranker = DaskRanker(client=client, **settings).fit(parts.X, parts.y, qid=parts.qid)
    return Model(ranker.predict, ranker.result_.gap / ranker.result_.C)
