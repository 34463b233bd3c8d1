"""The fit of a trial, on small data that workers can make again."""

from pathlib import Path
from typing import Any

import numpy as np
from attrs import frozen

from structsvm import Problem, Result
from structsvm.distributed import DaskCluster, DistributedProblem, Partition
from structsvm.solvers import Checkpoint, OneSlack

LOSSES = ("map", "roc_area", "ndcg")
LIMIT = 200.0
"""Seconds that a call to the workers may take."""


@frozen
class Fit:
    """A fit.

    Parameters
    ----------
    seed : of the data.
    loss, C, tol : as of a ranker.
    queries, documents, features : size of the data.
    partitions : number of them.
    workers : number of worker processes, the same for ten fits.
    """

    seed: int
    loss: str
    C: float
    tol: float
    queries: int
    documents: int
    features: int
    partitions: int
    workers: int

    @classmethod
    def drawn(cls, seed: int) -> "Fit":
        """Draw one."""
        rng = np.random.default_rng(seed)
        return cls(
            seed,
            LOSSES[seed % len(LOSSES)],
            C=float(10.0 ** rng.uniform(1.5, 3.0)),
            tol=1e-3,
            queries=int(rng.integers(100, 300)),
            documents=int(rng.integers(10, 40)),
            features=int(rng.integers(15, 46)),
            partitions=int(rng.integers(2, 10)),
            workers=2 + seed // 10 % 2,
        )

    def rows(self, part: int) -> Partition:
        """Return the rows of a partition, the same each time."""
        queries = np.array_split(np.arange(self.queries), self.partitions)[part]
        shared = np.random.default_rng([self.seed, 0]).normal(size=self.features)
        rng = np.random.default_rng([self.seed, 1 + part])
        X = rng.normal(size=(len(queries) * self.documents, self.features))
        utility = X @ shared / np.sqrt(self.features) + 1.5 * rng.normal(size=len(X))
        y = (utility > 1.5).astype(np.float64)
        y[:: self.documents] = 1.0
        y[1 :: self.documents] = 0.0
        return Partition(X, y, np.repeat(queries, self.documents))

    @property
    def problem(self) -> Problem:
        """All of it on one machine."""
        parts = [self.rows(part) for part in range(self.partitions)]
        X, y, qid = (np.concatenate([part[k] for part in parts]) for k in range(3))
        return Problem.from_queries(X, y, qid, loss=self.loss, C=self.C)


@frozen
class Bounds:
    """The bounds of a fit.

    Parameters
    ----------
    dual, primal : the bounds.
    """

    dual: float
    primal: float

    @property
    def rounding(self) -> float:
        return 1e-9 * (1.0 + abs(self.primal))

    @classmethod
    def reference(cls, fit: Fit) -> "Bounds":
        """Return close ones, found on one machine."""
        result = OneSlack(tol=1e-6).solve(fit.problem)
        assert result.converged
        return cls(result.dual, result.primal)

    def contradict(self, other: "Bounds") -> bool:
        """Say whether no optimum lies within both."""
        return max(self.dual, other.dual) > min(self.primal, other.primal) + other.rounding


def trained(fit: Fit, client: Any, checkpoint: Path | None = None) -> Result:
    """Fit at the workers, which make the data, with a checkpoint after every iteration if given."""
    parts = [client.submit(fit.rows, part) for part in range(fit.partitions)]
    cluster = DaskCluster(client, timeout=LIMIT)
    problem = DistributedProblem.from_queries(cluster, parts, loss=fit.loss, C=fit.C)
    kept = None if checkpoint is None else Checkpoint(checkpoint, every=0.0)
    return OneSlack(tol=fit.tol).solve(problem, checkpoint=kept)
