"""Losses, measures, solvers, QP backends, retrieval functions, rankers, fusion, formats and click models by name.

Built-in names and the entry points of other packages; nothing is imported before it is used.
`structsvm.registry.spelling` says what a name may look like.
"""

from structsvm.registry.built_in import (
    REGISTRIES,
    backends,
    click_models,
    exports,
    fusions,
    losses,
    measures,
    rankers,
    retrieval_functions,
    solvers,
)
from structsvm.registry.registry import Registry

__all__ = [
    "REGISTRIES",
    "Registry",
    "backends",
    "click_models",
    "exports",
    "fusions",
    "losses",
    "measures",
    "rankers",
    "retrieval_functions",
    "solvers",
]
