"""Train rankers on data that stay at the workers of a cluster, with the same optimum and certificate.

`DaskRanker` is `structsvm.Ranker` on the workers of a Dask cluster, which read their data with `read_partitions`. It
builds on `DistributedProblem`, which `structsvm.solvers.OneSlack` solves like any other problem. A `Cluster` stores the
partitions, in this process or at Dask workers.
"""

from typing import TYPE_CHECKING

from structsvm.distributed.cluster import Cluster, InProcess
from structsvm.distributed.dask_cluster import DaskCluster
from structsvm.distributed.partition import Partition
from structsvm.distributed.problem import DistributedProblem
from structsvm.foundation import lazy

if TYPE_CHECKING:
    from structsvm.distributed.dask_ranker import DaskRanker
    from structsvm.distributed.partitions import read_partitions

__all__ = [
    "Cluster",
    "DaskCluster",
    "DaskRanker",
    "DistributedProblem",
    "InProcess",
    "Partition",
    "read_partitions",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.distributed.dask_ranker": ["DaskRanker"],
        "structsvm.distributed.partitions": ["read_partitions"],
    },
)
