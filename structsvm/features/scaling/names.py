"""Names of scalings: values of the parameter ``normalize`` and of the option ``--normalize``."""

from collections.abc import Sequence
from typing import Any

from structsvm.foundation.settings import require_choice
from structsvm.registry.spelling import name_key

STANDARD = "standard"
FEATURE_SCALINGS = ("query-min-max", "query-z-score", STANDARD)
"""Scalings that rankers apply to features and store: two by query, and one over all training rows."""

SCORE_SCALINGS = ("query-min-max", "query-z-score", "query-sum", "query-percentiles")
"""Scalings of each system's scores within each query, which ignore missing scores (NaN).

If all scores are equal, as for a single document, they become 0, except for percentiles.

- "query-min-max": the smallest becomes 0 and the largest 1 (Lee, SIGIR 1997).
- "query-z-score": the mean becomes 0 and the standard deviation 1, over the retrieved documents; Montague and Aslam
  call it ZMUV.
- "query-sum": the smallest becomes 0, and the sum 1 (Montague and Aslam, CIKM 2001).
- "query-percentiles": the fraction of documents with this score or a smaller one.
"""

_ALSO_CALLED: dict[str, str | None] = {
    "min-max": "query-min-max",
    "z": "query-z-score",
    "z-score": "query-z-score",
    "sum": "query-sum",
    "percentiles": "query-percentiles",
    "none": None,
}
_KNOWN = {name_key(other): name for other, name in _ALSO_CALLED.items()}
_KNOWN |= {name_key(name): name for name in (*FEATURE_SCALINGS, *SCORE_SCALINGS)}


def scaling_named(what: str, value: Any, choices: Sequence[str] = FEATURE_SCALINGS) -> str | None:
    """Return the name in ``choices`` for any spelling, or None for None and "none"; errors begin with ``what``."""
    if isinstance(value, str):
        value = _KNOWN.get(name_key(value), value)
    require_choice(what, value, (*choices, None))
    name: str | None = value
    return name
