"""Losses, measures, solvers, QP backends, retrieval functions and rankers by name.

Built-in names and the entry points of other packages; nothing is imported before it is used.
`structsvm.registry.spelling` says what a name may look like.
"""

from structsvm.registry.registry import Registry, backends, losses, measures, rankers, retrieval_functions, solvers

__all__ = ["Registry", "backends", "losses", "measures", "rankers", "retrieval_functions", "solvers"]
