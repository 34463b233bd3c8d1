"""Data in partitions that stay where they are: the same optimum, with the same certificate.

`DaskRanker` is `structsvm.Ranker` on the workers of a Dask cluster, and `Partitions` are its data, which
`read_partitions` lets the workers read. Below it, a `DistributedProblem` is solved by `structsvm.solvers.OneSlack` as
any other. A `Cluster` keeps the partitions: all in this process, or at the workers of Dask.
"""

from typing import TYPE_CHECKING

from structsvm import lazy
from structsvm.distributed.cluster import Call, Cluster, InProcess
from structsvm.distributed.dask_cluster import DaskCluster
from structsvm.distributed.partition import Partition
from structsvm.distributed.problem import DistributedProblem
from structsvm.distributed.progress import log_rounds

if TYPE_CHECKING:
    from structsvm.distributed.dask_ranker import DaskRanker
    from structsvm.distributed.partitions import Partitions, read_partitions

__all__ = [
    "Call",
    "Cluster",
    "DaskCluster",
    "DaskRanker",
    "DistributedProblem",
    "InProcess",
    "Partition",
    "Partitions",
    "log_rounds",
    "read_partitions",
]

__getattr__, __dir__ = lazy.exports(
    __name__,
    {
        "structsvm.distributed.dask_ranker": ["DaskRanker"],
        "structsvm.distributed.partitions": ["Partitions", "read_partitions"],
    },
)
