"""Find losses, measures, solvers, QP backends, retrieval functions, rankers, fusion, formats and click models by name.

Names are built in or come from entry points of other packages, which are imported on first use. A name may have a
cut-off and settings, as in ``ndcg@10(gain=linear)``; case, ``-``, ``_`` and blanks do not matter.
``structsvm list`` shows all of them.
"""

from structsvm.registry.built_in import (
    backends,
    benchmark_models,
    fusions,
    losses,
    measures,
    rankers,
    retrieval_functions,
    solvers,
)
from structsvm.registry.registry import Registry

__all__ = [
    "Registry",
    "backends",
    "benchmark_models",
    "fusions",
    "losses",
    "measures",
    "rankers",
    "retrieval_functions",
    "solvers",
]
