"""Plans of comparisons, against a quadrature over the chi distribution."""

import math
from collections.abc import Mapping
from itertools import pairwise, product
from typing import Any

from scipy import stats
from scipy.integrate import quad

from structsvm.evaluation import queries_needed, smallest_difference
from structsvm.evaluation.planning import comparisons_of

GRID: Mapping[str, tuple[Any, ...]] = {
    "queries": (2, 3, 20, 1000, 100_000),
    "power": (0.5, 0.8, 0.95, 0.999),
    "significance_level": (1e-16, 1e-3, 0.05, 0.49),
    "systems": (2, 50),
    "all_pairs": (False, True),
}
"""Arguments of 320 plans."""

WITHIN = 1e-7
"""Largest error of a power."""


def plans() -> list[dict[str, Any]]:
    """Return the plans of the grid."""
    return [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]


def fault_in(plan: Mapping[str, Any]) -> str:
    """Return the fault in the answers to a plan; "" if they are right."""
    queries, settings = plan["queries"], {name: plan[name] for name in plan if name != "queries"}
    difference = smallest_difference(1.0, queries, **settings)
    level = plan["significance_level"] / comparisons_of(plan["systems"], plan["all_pairs"])
    power = _power(difference, queries, level)
    if not abs(power - plan["power"]) <= WITHIN:
        return f"{plan}: the power of {difference} is {power}"
    least = queries_needed(1.0, difference, **settings)
    if least != queries:
        return f"{plan}: a difference of {difference} needs {least} queries"
    return ""


def _power(difference: float, queries: int, level: float) -> float:
    """Return the power of the two-tailed t-test, as a mean over the sample's standard deviation."""
    freedom, shift = queries - 1, difference * math.sqrt(queries)
    limit = float(stats.t.isf(0.5 * level, freedom))
    constant = math.log(2.0) + 0.5 * freedom * math.log(0.5 * freedom) - math.lgamma(0.5 * freedom)

    def significant(s: float) -> float:
        density = math.exp(constant + (freedom - 1) * math.log(s) - 0.5 * freedom * s * s)
        tails = math.erfc((limit * s - shift) / math.sqrt(2.0)) + math.erfc((limit * s + shift) / math.sqrt(2.0))
        return 0.5 * density * tails

    # The integrand has its step within 9 normal deviations of s = shift / limit.
    reach = 12.0 / math.sqrt(2.0 * freedom)
    low, high = max(1e-300, 1.0 - reach), 1.0 + reach
    ends = sorted({low, high, *(min(max((shift + z) / limit, low), high) for z in (-9.0, 0.0, 9.0))})
    parts = pairwise(ends)
    return math.fsum(quad(significant, *part, epsabs=1e-10, epsrel=1e-9, limit=200, full_output=1)[0] for part in parts)
