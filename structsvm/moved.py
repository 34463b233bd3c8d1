"""Import paths and names of version 0.1 that have moved: they work with a DeprecationWarning, until 0.3."""

import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.abc import Loader
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NamedTuple

MODULES: dict[str, tuple[str, ...]] = {
    "structsvm.archive": ("structsvm.storage.files",),
    "structsvm.baselines": ("structsvm.rankers", "structsvm.fusion"),
    "structsvm.baselines.clicks": ("structsvm.rankers.preferences",),
    "structsvm.baselines.fusion": ("structsvm.fusion",),
    "structsvm.baselines.fusion.normalisation": ("structsvm.fusion.comb",),
    "structsvm.baselines.rank_boost.estimator": ("structsvm.rankers.rank_boost",),
    "structsvm.baselines.rank_net.estimator": ("structsvm.rankers.rank_net",),
    "structsvm.baselines.weight_search.estimator": ("structsvm.rankers.weight_search",),
    "structsvm.data.digits_runs": ("structsvm.data.digits",),
    "structsvm.data.joining": ("structsvm.data.dataset", "structsvm.data.pooling"),
    "structsvm.data.pool": ("structsvm.data.dataset",),
    "structsvm.data.trec_writing": ("structsvm.data.trec",),
    "structsvm.experiment": ("structsvm.protocols.experiment",),
    "structsvm.features.fill_missing": ("structsvm.features.per_query",),
    "structsvm.features.min_max": ("structsvm.features.per_query",),
    "structsvm.features.percentiles": ("structsvm.features.per_query",),
    "structsvm.features.reciprocal_ranks": ("structsvm.features.per_query",),
    "structsvm.letor": ("structsvm.protocols.letor",),
    "structsvm.models": ("structsvm.protocols",),
    "structsvm.names": ("structsvm.registry.spelling",),
    "structsvm.report": ("structsvm.protocols.experiment.report",),
    "structsvm.solvers.run": ("structsvm.solvers.state",),
    "structsvm.validation": ("structsvm.settings",),
}
"""Where the names of a module are now; those of a module below it are looked for below that."""

NAMES: dict[str, tuple[str, str]] = {
    "structsvm.metrics.Groups": ("structsvm.moved:Groups", "structsvm.queries.Queries"),
    "structsvm.metrics.Queries": ("structsvm.moved:NumberedQueries", "structsvm.queries.Queries"),
    "structsvm.metrics.group_rows": ("structsvm.moved:group_rows", "structsvm.queries.Queries.of"),
    "structsvm.metrics.number_queries": ("structsvm.moved:number_queries", "structsvm.queries.Queries.of"),
    "structsvm.problem.DualPlanes": ("structsvm.planes:DualPlanes", "structsvm.planes.DualPlanes"),
    "structsvm.problem.KeptPlanes": ("structsvm.planes:RestrictedProblem", "structsvm.planes.RestrictedProblem"),
    "structsvm.protocols.experiment.Comparison": (
        "structsvm.significance:SignedRankTest",
        "structsvm.significance.SignedRankTest",
    ),
    "structsvm.protocols.experiment.compare": (
        "structsvm.significance:signed_rank_test",
        "structsvm.significance.signed_rank_test",
    ),
    "structsvm.significance.Comparison": (
        "structsvm.significance:SignedRankTest",
        "structsvm.significance.SignedRankTest",
    ),
    "structsvm.significance.compare": (
        "structsvm.significance:signed_rank_test",
        "structsvm.significance.signed_rank_test",
    ),
    "structsvm.problem.Storage": ("structsvm.planes:Capacity", "structsvm.planes.Capacity"),
    "structsvm.solvers.run.Run": ("structsvm.solvers.state:SolverState", "structsvm.solvers.SolverState"),
    "structsvm.solvers.Run": ("structsvm.solvers.state:SolverState", "structsvm.solvers.SolverState"),
}
"""Where a name that has left a package is found, as ``"module:name"``, and what is to be used in its place."""


def forward() -> None:
    """Let old import paths lead to the new ones."""
    sys.meta_path.append(_Finder)


def names_of(package: str) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package that some of `NAMES` have left."""

    def __getattr__(name: str) -> Any:
        old = f"{package}.{name}"
        if old not in NAMES:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return _of_old(old)

    return __getattr__


def _of_old(name: str) -> Any:
    """Return what has left its package, with a warning where the caller's caller asks for it."""
    target, new = NAMES[name]
    warnings.warn(f"{name} is now {new}: use that", DeprecationWarning, stacklevel=3)
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


class Groups(NamedTuple):
    """Rows, query after query; see `structsvm.queries.Queries`, of which these are some attributes."""

    ids: Any
    order: Any
    ptr: Any
    together: bool


class NumberedQueries(NamedTuple):
    """The queries that rows belong to; see `structsvm.queries.Queries`, of which these are some attributes."""

    ids: Any
    number: Any


def group_rows(qid: Any, n: int) -> Groups:
    """Group rows by query, as `structsvm.queries.Queries.of` does."""
    from structsvm.queries import Queries

    queries = Queries.of(qid, n)
    return Groups(queries.ids, queries.order, queries.ptr, queries.together)


def number_queries(qid: Any, n: int) -> NumberedQueries:
    """Number queries, as `structsvm.queries.Queries.of` does."""
    from structsvm.queries import Queries

    queries = Queries.of(qid, n)
    return NumberedQueries(queries.ids, queries.number)


class _Finder:
    """Finds modules by their old paths, after Python's own finders have not."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        homes = _homes(name)
        if not homes:
            return None
        found = tuple(home for home in homes if _exists(home))
        if not found:
            raise ModuleNotFoundError(f"there is no module {name} any more, nor {' or '.join(homes)}", name=name)
        return ModuleSpec(name, _Loader(found), is_package=True)


class _Loader(Loader):
    """Makes a module whose names are those of others."""

    def __init__(self, homes: tuple[str, ...]) -> None:
        self.homes = homes

    def exec_module(self, module: ModuleType) -> None:
        homes = [import_module(home) for home in self.homes]

        def __getattr__(name: str) -> Any:
            for old in (f"{place.__name__}.{name}" for place in (module, *homes)):
                if old in NAMES:  # it has another name now, or has moved once more
                    return _of_old(old)
            for home in homes:
                if hasattr(home, name) and name != "__path__":  # or a copy of a file there would be imported
                    return getattr(home, name)
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")

        module.__dict__["__getattr__"] = __getattr__
        module.__dict__["__all__"] = sorted({name for home in homes for name in getattr(home, "__all__", ())})
        new = " and ".join(self.homes)
        warnings.warn(f"{module.__name__} is now {new}: import from there", DeprecationWarning, stacklevel=2)


def _homes(name: str) -> tuple[str, ...]:
    """Return the modules in which the names of an old one are; none, where it is not an old one."""
    if name in MODULES:
        return MODULES[name]
    parent, _, leaf = name.rpartition(".")
    return tuple(f"{home}.{leaf}" for home in _homes(parent)) if parent else ()


def _exists(module: str) -> bool:
    with suppress(ModuleNotFoundError):
        return find_spec(module) is not None
    return False
