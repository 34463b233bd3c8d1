"""Time of a fit on a cluster, from measured costs and the model of the network."""

from collections.abc import Sequence

import numpy as np
from attrs import evolve, field, frozen

from benchmarks.clusters.network.exchanges import Cluster, Exchange, Failures, Times, round_seconds
from benchmarks.clusters.network.links import Link, Tree
from benchmarks.clusters.network.spreads import Even, Lognormal, Spread
from structsvm.foundation.settings import at_least, not_negative, positive

BYTES = 8
"""Bytes of a number on its way."""


@frozen
class Costs:
    """Measured costs, in seconds of one core.

    Parameters
    ----------
    score : cost of a feature value of a document in its score.
    combine : cost of a feature value of a document in a cut.
    argmax : cost of a loss-augmented argmax of a query.
    dot : cost of a feature value of a cut in the driver's products of cuts.
    qp : cost of a QP over the cuts of a fit, without products of cuts.
    """

    score: float = field(validator=positive)
    combine: float = field(validator=positive)
    argmax: float = field(validator=positive)
    dot: float = field(validator=positive)
    qp: float = field(validator=not_negative)


@frozen
class Data:
    """Queries with features.

    Parameters
    ----------
    queries, documents : number of queries, and of documents of each.
    values : number of stored feature values of a document; if rows are dense, the number of weights.
    weights : number of weights, d.
    width : bytes of a stored value; if rows are sparse, with its column number.
    """

    queries: float = field(validator=positive)
    documents: int = field(validator=at_least(1))
    values: int = field(validator=at_least(1))
    weights: int = field(validator=at_least(1))
    width: int = 4

    @property
    def bytes(self) -> float:
        """Bytes of all feature values."""
        return self.queries * self.documents * self.values * self.width


@frozen
class Machines:
    """The machines of a plan.

    Parameters
    ----------
    workers : number of partitions, each with a separate worker.
    cores : cores of each worker, all of which work on its partition.
    tree : network between driver and workers.
    spread : distribution of the time of equal work.
    life : seconds after which a machine dies, on average; None: never.
    notice : seconds until its death is noticed.
    storage : bytes per second at which a partition is read.
    """

    workers: int = field(validator=at_least(1))
    cores: int = field(validator=at_least(1))
    tree: Tree
    spread: Spread = field(factory=Even)
    life: float | None = None
    notice: float = 30.0
    storage: float = 5e8

    def cluster(self, data: Data) -> Cluster:
        """Return the machines as a cluster with the data spread evenly."""
        failures = None
        if self.life is not None:
            failures = Failures(self.life, self.notice, data.bytes / self.workers / self.storage)
        return Cluster(self.workers, self.tree, self.spread, failures)


DATACENTRE = Machines(
    workers=1024, cores=16, tree=Tree(Link(500e-6, 1.25e9), fan_in=32), spread=Lognormal(0.2), life=30 * 86_400.0
)
"""10 Gbit/s, half a millisecond per message with its handling in Python, one machine in thirty lost each day."""


def exchanges_of(data: Data, machines: Machines, costs: Costs, steps: Sequence[int]) -> list[Exchange]:
    """Return the exchanges of a round of 1-slack with its line search.

    The first exchange scores the solution of the QP and evaluates some steps towards it. Further exchanges evaluate
    more steps, and the last makes a cut at the chosen point. A spare machine scores both ends of the line again.

    Parameters
    ----------
    data, machines, costs : the data, the machines, and the costs of work.
    steps : number of steps t at which each exchange except the last computes argmaxes.
    """
    queries = data.queries / machines.workers / machines.cores
    values = queries * data.documents * data.values
    score = values * costs.score
    vector = BYTES * data.weights
    looks = [Exchange(BYTES * each, 3.0 * BYTES * each, queries * each * costs.argmax, 2.0 * score) for each in steps]
    first = evolve(looks[0], down=looks[0].down + vector, work=looks[0].work + score, redo=score)
    last = Exchange(BYTES, vector + 3.0 * BYTES, values * costs.combine + queries * costs.argmax, 2.0 * score)
    return [first, *looks[1:], last]


def driver_seconds(data: Data, machines: Machines, costs: Costs, cuts: float) -> float:
    """Return the seconds of a round in which only the driver works: products of the new cut with all, the QP, and w."""
    return costs.qp + 2.0 * cuts * data.weights * costs.dot / machines.tree.servers


def fits(
    data: Data,
    machines: Machines,
    costs: Costs,
    *,
    rounds: int,
    steps: Sequence[int],
    trials: int,
    rng: np.random.Generator,
) -> list[Times]:
    """Sample fits; return the times of the rounds of each.

    Parameters
    ----------
    data, machines, costs : the data, the machines, and the costs of work.
    rounds : number of rounds of a fit; on average, the driver has half as many cuts.
    steps : as in `exchanges_of`.
    trials : number of fits.
    rng : source of random numbers.
    """
    exchanges = exchanges_of(data, machines, costs, steps)
    driver = driver_seconds(data, machines, costs, rounds / 2.0)
    cluster = machines.cluster(data)
    return [round_seconds(cluster, exchanges, driver, rounds, rng) for _ in range(trials)]
