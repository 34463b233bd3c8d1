"""A model of the time that a fit takes on a cluster: links, trees, stragglers and failures."""

from benchmarks.clusters.network.exchanges import Cluster, Exchange, Failures, Times, round_seconds
from benchmarks.clusters.network.links import Link, Tree, fan_ins
from benchmarks.clusters.network.spreads import Even, Lognormal, ShiftedExponential, Spread

__all__ = [
    "Cluster",
    "Even",
    "Exchange",
    "Failures",
    "Link",
    "Lognormal",
    "ShiftedExponential",
    "Spread",
    "Times",
    "Tree",
    "fan_ins",
    "round_seconds",
]
