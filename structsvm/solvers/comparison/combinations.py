"""List the combinations of a comparison: every solver with every backend at every C, on every problem."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from attrs import evolve, fields, fields_dict, frozen, has

from structsvm.exceptions import InputError, brief
from structsvm.foundation.settings import as_list, require_number
from structsvm.problem import Problem
from structsvm.registry import Registry, losses
from structsvm.registry import backends as known_backends
from structsvm.registry import solvers as known_solvers
from structsvm.registry.spelling import Spelling, spell
from structsvm.solvers import Auto, Solver
from structsvm.solvers.qp import QPBackend, Recorder

_SET = {"tol": "tol=... (--tol)", "backend": "backends=... (--backend)"}
"""Settings of solvers that a comparison replaces, with the argument and the option that set them."""


@frozen
class Combination:
    """The names of one line of a comparison: loss or problem, solver, QP backend (None if unused or chosen), and C."""

    loss: str
    solver: str
    backend: str | None
    C: float

    def __str__(self) -> str:
        return ", ".join(filter(None, [self.loss, self.solver, self.backend, f"C = {self.C:g}"]))


@frozen(eq=False)
class Task:
    """A combination and its objects; ``tol`` is the target gap in units of the loss, ``backend`` None if unused."""

    combination: Combination
    problem: Problem
    solver: Solver
    backend: QPBackend | None
    tol: float


def tasks(
    problems: Problem | Mapping[str, Problem],
    solvers: str | Solver | Iterable[str | Solver],
    backends: str | QPBackend | Iterable[str | QPBackend],
    Cs: float | Iterable[float],
    tol: float,
) -> list[Task]:
    """Return all combinations in their order of execution, for the arguments of `compare`."""
    require_number("tol", tol, above=0.0)
    problems = _by_name(problems)
    named_solvers = _named("solver", solvers, known_solvers)
    named_backends = _named("backend", _with_all(backends), known_backends)
    Cs = as_list("Cs", Cs, "numbers") if isinstance(Cs, Iterable) else [Cs]
    for C in Cs:
        require_number("C", C, above=0.0)
    _require_once("value of C", Cs)
    pairs = list(_pairs(named_solvers, named_backends, tol))
    return [
        Task(Combination(loss, solver_name, backend_name, float(C)), problem, solver, backend, float(tol))
        for loss, unscaled in problems.items()
        for C, problem in [(C, unscaled.with_C(C)) for C in Cs]
        for (solver_name, solver), (backend_name, backend) in pairs
    ]


def _with_all(backends: Any) -> Any:
    """Replace "all" by the names of the installed backends that are not given themselves."""
    names = [backends] if isinstance(backends, str) else backends
    if not (isinstance(names, list | tuple) and "all" in names):
        return backends
    others = [name for name in names if not (isinstance(name, str) and name == "all")]
    excluded = {describe(known_backends.create(name)) for name in others}
    return [*(name for name in installed_backends() if name not in excluded), *others]


def installed_backends() -> list[str]:
    """Return a name of each registered backend whose packages are installed."""
    registered = map(known_backends.create, known_backends.names())
    return list(dict.fromkeys(describe(backend) for backend in registered if not backend.missing()))


def _by_name(problems: Any) -> Mapping[str, Problem]:
    if isinstance(problems, Problem):
        loss = problems.loss
        return {losses.spell(loss) or losses.name_of(type(loss)) or loss.title: problems}
    if not isinstance(problems, Mapping) or not all(isinstance(problem, Problem) for problem in problems.values()):
        raise InputError(
            "compare needs a Problem, or a dict of problems by name: make one with Problem.from_queries(X, y, qid, "
            "loss=...) or Problem.from_examples(xs, ys, loss=...)"
        )
    _require_once("problem", list(problems))
    return problems


def _named(kind: str, value: Any, registry: Registry[Any]) -> dict[str, Any]:
    """Return objects of one kind by their `describe` names."""
    one = isinstance(value, str) or not isinstance(value, Iterable)
    several = [value] if one else as_list(f"{kind}s", value, f"{kind}s or their names")
    if kind == "solver":
        for single in several:
            _require_unset(single)
    objects = [registry.create(single) for single in several]
    for single in objects:
        _require_comparable(kind, single)
    names = [describe(single) for single in objects]
    _require_once(kind, names)
    return dict(zip(names, objects, strict=True))


def _require_comparable(kind: str, thing: Any) -> None:
    if not isinstance(getattr(thing, "name", None), str):
        raise InputError(f"the {kind} {type(thing).__name__} needs a name: write name = '...' in the class")
    if isinstance(thing, Recorder):
        raise InputError(
            "a Recorder cannot be compared, because its copy in another process would lose the programs: pass it to a "
            "solver, as in OneSlack(backend=recorder)"
        )


def _require_unset(solver: Any) -> None:
    """Refuse a solver with a setting that the comparison would replace."""
    if isinstance(solver, str):
        settings = [option.partition("=")[0].strip() for option in Spelling.of(solver).options]
    else:
        all_fields = fields(type(solver)) if has(type(solver)) else ()
        settings = [field.name for field in all_fields if getattr(solver, field.name) != field.default]
    for setting in settings:
        if setting in _SET:
            raise InputError(
                f"{brief(solver)} sets {setting}, which a comparison sets for all solvers: remove it, and use "
                f"{_SET[setting]}"
            )


def _require_once(kind: str, things: list[Any]) -> None:
    if not things:
        raise InputError(f"a comparison needs at least one {kind}")
    twice = next((thing for k, thing in enumerate(things) if thing in things[:k]), None)
    if twice is not None:
        raise InputError(f"the {kind} {twice} is given twice: leave one out")


def _pairs(
    solvers: dict[str, Solver], backends: dict[str, QPBackend], tol: float
) -> Iterator[tuple[tuple[str, Solver], tuple[str | None, QPBackend | None]]]:
    for name, solver in solvers.items():
        settings = fields_dict(cast(Any, type(solver))) if has(type(solver)) else {}
        if "tol" not in settings:
            raise InputError(
                f"the solver {name} needs a setting tol, the target gap: make it an attrs class with a field tol"
            )
        # Auto may choose a solver without QPs.
        if "backend" not in settings or isinstance(solver, Auto):
            yield (name, with_settings(solver, tol=tol)), (None, None)
            continue
        for backend_name, backend in backends.items():
            yield (name, with_settings(solver, tol=tol, backend=backend)), (backend_name, backend)


def with_settings(solver: Solver, **settings: Any) -> Solver:
    """Return a solver with other settings."""
    return evolve(cast(Any, solver), **settings)  # type: ignore[no-any-return]


def describe(thing: Solver | QPBackend) -> str:
    """Name a solver or backend as its registry parses it, with settings other than ``tol`` and ``backend``."""
    spelling = known_backends.spell(thing) if isinstance(thing, QPBackend) else None
    return spelling or spell(thing.name, thing, _SET) or repr(thing)
