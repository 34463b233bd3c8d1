"""Data in partitions that stay where they are: the same optimum, with the same certificate.

A `DistributedProblem` is solved by `structsvm.solvers.OneSlack` as any other. A `Cluster` keeps the partitions: all in
this process, or at the workers of Dask.
"""

from structsvm.distributed.cluster import Call, Cluster, InProcess
from structsvm.distributed.dask_cluster import DaskCluster
from structsvm.distributed.problem import DistributedProblem
from structsvm.distributed.shard import Part

__all__ = ["Call", "Cluster", "DaskCluster", "DistributedProblem", "InProcess", "Part"]
