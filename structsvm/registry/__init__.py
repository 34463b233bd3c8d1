"""Losses, measures, solvers and QP backends by name.

Built-in names and the entry points of other packages; nothing is imported before it is used.
`structsvm.registry.spelling` says what a name may look like.
"""

from structsvm.registry.registry import Registry, backends, losses, measures, solvers

__all__ = ["Registry", "backends", "losses", "measures", "solvers"]
