"""The critical path of a round: numbers down, the slowest worker, sums up, and the driver's own work."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from attrs import field, frozen

from benchmarks.clusters.network.links import Tree
from benchmarks.clusters.network.spreads import Spread
from structsvm.foundation.settings import at_least, not_negative, positive
from structsvm.foundation.types import Matrix, Vector


@frozen
class Failures:
    """Machines that die, each after an exponential time, independently of each other.

    A spare machine rebuilds the data of a dead machine, and is as fast as any other machine afterwards.

    Parameters
    ----------
    mean : seconds after which a machine dies, on average.
    notice : seconds until its death is noticed.
    reload : seconds in which its partition is read again.
    """

    mean: float = field(validator=positive)
    notice: float = field(validator=not_negative)
    reload: float = field(validator=not_negative)


@frozen
class Exchange:
    """One function that every worker applies to its partition.

    Parameters
    ----------
    down, up : bytes to and from each worker.
    work : seconds of a worker whose factor is 1.
    redo : seconds to recompute lost results, such as scores, on a spare machine.
    """

    down: float
    up: float
    work: float
    redo: float = 0.0


@frozen
class Cluster:
    """Workers of one partition each, and their network.

    Parameters
    ----------
    workers : number of workers.
    tree : network from and to the workers.
    spread : distribution of their times.
    failures : model of their deaths; None: they never die.
    """

    workers: int = field(validator=at_least(1))
    tree: Tree
    spread: Spread
    failures: Failures | None = None


class Times(NamedTuple):
    """Seconds on the critical path, shape (trials,) each: numbers down, work, the sum's way up, the driver's work.

    ``work`` ends when the last worker is done. Sums that a tree computes before are not on the critical path.
    """

    down: Vector
    work: Vector
    up: Vector
    driver: Vector

    @property
    def total(self) -> Vector:
        return self.down + self.work + self.up + self.driver


def round_seconds(
    cluster: Cluster, exchanges: Sequence[Exchange], driver: float, trials: int, rng: np.random.Generator
) -> Times:
    """Sample rounds.

    Parameters
    ----------
    cluster : the machines.
    exchanges : exchanges of a round, in order.
    driver : seconds of the driver's work in a round, when no worker works.
    trials : number of rounds.
    rng : source of random numbers.
    """
    down, work, up = (np.zeros(trials) for _ in range(3))
    for one in exchanges:
        seconds = _worked(cluster, one, trials, rng)
        slowest = seconds.max(axis=1)
        down += cluster.tree.seconds(cluster.workers, one.down)
        work += slowest
        up += cluster.tree.finished(seconds, one.up) - slowest
    return Times(down, work, up, np.full(trials, driver))


def _worked(cluster: Cluster, exchange: Exchange, trials: int, rng: np.random.Generator) -> Matrix:
    """Return the times at which each worker, or its spare machines, has done its work, shape (trials, workers).

    A machine may die as long as the slowest machine works, even after its own work.
    """
    seconds = exchange.work * cluster.spread.factors(rng, (trials, cluster.workers))
    failures = cluster.failures
    if failures is None:
        return seconds
    died = rng.exponential(failures.mean, seconds.shape)
    again = np.nonzero(died < seconds.max(axis=1, keepdims=True))
    at, done = died[again], seconds[again]
    while len(at):
        begin = at + failures.notice + failures.reload
        took = (exchange.redo + exchange.work) * cluster.spread.factors(rng, at.shape)
        done = begin + took
        seconds[again] = done
        lived = rng.exponential(failures.mean, at.shape)
        dead = lived < failures.reload + took
        again = tuple(index[dead] for index in again)
        at = (at + failures.notice + lived)[dead]
    return seconds
