"""A model of the time that a fit takes on a cluster: links, trees, stragglers and failures."""

from benchmarks.network.calls import Call, Cluster, Failures, Times, round_seconds
from benchmarks.network.links import Link, Tree, fan_ins
from benchmarks.network.spreads import Even, Lognormal, ShiftedExponential, Spread

__all__ = [
    "Call",
    "Cluster",
    "Even",
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
