"""Losses, measures, solvers, QP backends and retrieval functions by name.

Built-in names and the entry points of other packages; nothing is imported before it is used.
`structsvm.registry.spelling` says what a name may look like.
"""

from structsvm.registry.registry import Registry, backends, losses, measures, retrieval_functions, solvers

__all__ = ["Registry", "backends", "losses", "measures", "retrieval_functions", "solvers"]
