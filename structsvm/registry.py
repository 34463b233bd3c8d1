"""Losses, solvers and QP backends by name.

Built-in names and the entry points of other packages; nothing is imported before it is used.
"""

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar, cast

from attrs import frozen

from structsvm.exceptions import InputError, UnknownNameError

T = TypeVar("T")


@frozen
class Registry(Generic[T]):
    """Names of one kind of object.

    Parameters
    ----------
    kind : what the objects are, in words.
    group : entry point group in which other packages register theirs.
    built_in : name to ``"module:class"``.
    classes : ``"module:class"`` of the classes that all these objects derive from.
    place : the argument that such an object is for.
    """

    kind: str
    group: str
    built_in: dict[str, str]
    classes: tuple[str, ...]
    place: str

    def names(self) -> list[str]:
        """Return all names: the built-in ones first, then those of other packages."""
        return [*self.built_in, *(name for name in self._plugins() if name not in self.built_in)]

    def find(self, name: str) -> type[T]:
        """Import and return the class of that name; underscores, hyphens and case do not matter.

        Raises
        ------
        UnknownNameError : when nothing has that name; it tells the nearest one.
        """
        wanted = _canonical(name)
        for known, target in self.built_in.items():
            if _canonical(known) == wanted:
                return cast(type[T], _imported(target))
        for known, entry_point in self._plugins().items():
            if _canonical(known) == wanted:
                return cast(type[T], entry_point.load())
        raise UnknownNameError(self.kind, name, self.names(), _other_meaning(name))

    def create(self, spec: str | T, **settings: Any) -> T:
        """Return the object of that name, made with these settings; an object is returned as it is.

        Raises
        ------
        InputError : when ``spec`` is a class instead of an object, or an object of another kind.
        """
        if isinstance(spec, str):
            return self.find(spec)(**settings)
        if isinstance(spec, type):
            raise InputError(f"{spec.__name__} is a class: pass an object, {spec.__name__}(), or a name")
        if not self.holds(spec):
            other = next((each for each in (losses, solvers, backends) if each.holds(spec)), None)
            meaning = f", but a {other.kind}, for {other.place}" if other else ""
            raise InputError(
                f"{spec!r} is no {self.kind}{meaning}: pass a name ({', '.join(self.names())}) or an object"
            )
        return spec

    def holds(self, thing: object) -> bool:
        """Say whether an object is of this kind."""
        return isinstance(thing, tuple(_imported(target) for target in self.classes))

    def name_of(self, kind: type[T]) -> str | None:
        """Return the name that leads to a class; None where there is none."""
        package = _package(kind.__module__)
        targets = {name: plugin.value for name, plugin in self._plugins().items()} | self.built_in
        same_package = (name for name in self.names() if _package(targets[name]) == package)
        return next((name for name in same_package if self.find(name) is kind), None)

    def _plugins(self) -> dict[str, EntryPoint]:
        return {entry_point.name: entry_point for entry_point in entry_points(group=self.group)}


def _imported(target: str) -> Any:
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


def _other_meaning(name: str) -> str:
    """Say what a name stands for among the measures, solvers and backends; "" where nothing is called so."""
    for registry in (losses, solvers, backends):
        if any(_canonical(known) == _canonical(name) for known in registry.built_in):
            return f"{name!r} is a {registry.kind}, for {registry.place}."
    try:
        _imported("structsvm.metrics:parse_measure")(name)
    except InputError:
        return ""
    return f"{name!r} is a measure, which a ranker reports and does not train on."


def _package(target: str) -> str:
    return target.partition(":")[0].partition(".")[0]


def _canonical(name: str) -> str:
    return name.strip().lower().replace("_", "-")


losses: Registry[Any] = Registry(
    "loss",
    "structsvm.losses",
    {
        "map": "structsvm.losses:AveragePrecision",
        "roc_area": "structsvm.losses:ROCArea",
        "zero_one": "structsvm.losses:ZeroOne",
        "multiclass": "structsvm.losses:Multiclass",
        "chain_hamming": "structsvm.losses:ChainHamming",
    },
    classes=("structsvm.losses:ScoreLoss", "structsvm.losses:Loss"),
    place="loss=...",
)

solvers: Registry[Any] = Registry(
    "solver",
    "structsvm.solvers",
    {
        "auto": "structsvm.solvers:Auto",
        "one-slack": "structsvm.solvers:OneSlack",
        "n-slack": "structsvm.solvers:NSlack",
        "frank-wolfe": "structsvm.solvers:FrankWolfe",
    },
    classes=("structsvm.solvers:Solver",),
    place="solver=...",
)

backends: Registry[Any] = Registry(
    "QP backend",
    "structsvm.qp",
    {
        "active-set": "structsvm.qp:ActiveSet",
        "cvxopt": "structsvm.qp:CVXOPT",
        "osqp": "structsvm.qp:OSQP",
        "highs": "structsvm.qp:HiGHS",
        "auto": "structsvm.qp:ActiveSet",
    },
    classes=("structsvm.qp:QPBackend",),
    place="backend=... of a solver",
)
