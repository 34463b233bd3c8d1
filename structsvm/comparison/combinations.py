"""What is compared: every solver with every backend at every C, on every problem."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, cast

from attrs import evolve, fields_dict, frozen, has

from structsvm.exceptions import InputError
from structsvm.problem import Problem
from structsvm.qp import QPBackend
from structsvm.registry import Registry, losses
from structsvm.registry import backends as known_backends
from structsvm.registry import solvers as known_solvers
from structsvm.registry.spelling import Spelling, spell
from structsvm.settings import as_list, require_number
from structsvm.solvers import Auto, Solver

_SET = {"tol": "tol=... (--tol)", "backend": "backends=... (--backend)"}
"""The settings of solvers that a comparison replaces, and what says to which value."""


@frozen
class Combination:
    """The names of one line of a comparison.

    Parameters
    ----------
    loss : name of the loss, or of the problem.
    solver : name of the solver, with those settings that differ from its own.
    backend : name of the QP backend, likewise; None where the solver solves no QP or chooses for itself.
    C : weight of the mean hinge.

    Examples
    --------
    >>> from structsvm.comparison import Combination
    >>> print(Combination("map", "one-slack", "highs", 10.0))
    map, one-slack, highs, C = 10
    >>> print(Combination("map", "frank-wolfe", None, 10.0))
    map, frank-wolfe, C = 10
    """

    loss: str
    solver: str
    backend: str | None
    C: float

    def __str__(self) -> str:
        return ", ".join(filter(None, [self.loss, self.solver, self.backend, f"C = {self.C:g}"]))


@frozen(eq=False)
class Task:
    """A combination and the objects that it names.

    Parameters
    ----------
    combination : the names.
    problem : the problem, with its C.
    solver : the solver, with ``tol`` and the backend.
    backend : the QP backend; None where there is none.
    tol : gap to reach, in units of the loss.
    """

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
    """Return all combinations, in the order in which they are run; the arguments are those of `compare`.

    Raises
    ------
    InputError : when a list is empty or names something twice, or a solver has no setting ``tol``.
    UnknownNameError : when a name is not known.
    """
    problems = _by_name(problems)
    named_solvers = _named("solver", solvers, known_solvers)
    named_backends = _named("backend", backends, known_backends)
    Cs = as_list("Cs", Cs, "numbers") if isinstance(Cs, Iterable) else [Cs]
    for C in Cs:
        require_number("C", C, above=0.0)
    _require_once("value of C", Cs)
    pairs = list(_pairs(named_solvers, named_backends, tol))
    return [
        Task(Combination(loss, solver_name, backend_name, float(C)), problem, solver, backend, float(tol))
        for loss, given in problems.items()
        for C, problem in [(C, given.with_C(C)) for C in Cs]
        for (solver_name, solver), (backend_name, backend) in pairs
    ]


def _by_name(problems: Any) -> Mapping[str, Problem]:
    if isinstance(problems, Problem):
        loss = problems.loss
        return {losses.spell(loss) or losses.name_of(type(loss)) or loss.title: problems}
    if not isinstance(problems, Mapping) or not all(isinstance(each, Problem) for each in problems.values()):
        raise InputError(
            "compare takes a Problem, or a dict of them by name: make one with Problem.from_queries(X, y, qid, "
            "loss=...) or Problem.from_examples(xs, ys, loss=...)"
        )
    _require_once("problem", list(problems))
    return problems


def _named(kind: str, given: Any, registry: Registry[Any]) -> dict[str, Any]:
    """Return objects of one kind by name, as `describe` makes it."""
    one = isinstance(given, str) or not isinstance(given, Iterable)
    several = [given] if one else as_list(f"{kind}s", given, f"{kind}s or their names")
    if kind == "solver":
        for each in several:
            _require_unset(each)
    made = [registry.create(each) for each in several]
    names = [describe(each) for each in made]
    _require_once(kind, names)
    return dict(zip(names, made, strict=True))


def _require_unset(solver: Any) -> None:
    """Refuse the name of a solver with a setting that would be replaced."""
    options = Spelling.of(solver).options if isinstance(solver, str) else ()
    for option in options:
        setting = option.partition("=")[0].strip()
        if setting in _SET:
            raise InputError(
                f"{solver!r}: a comparison gives every solver the same {setting}: leave it out of the name, and give "
                f"compare {_SET[setting]}"
            )


def _require_once(kind: str, things: list[Any]) -> None:
    if not things:
        raise InputError(f"there is nothing to compare without a {kind}: give at least one")
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
                f"the solver {name} has no setting tol, so it cannot be told where to stop: make it a frozen attrs "
                "class with a field tol"
            )
        if "backend" not in settings or isinstance(solver, Auto):  # which chooses among solvers, some without QPs
            yield (name, with_settings(solver, tol=tol)), (None, None)
            continue
        for backend_name, backend in backends.items():
            yield (name, with_settings(solver, tol=tol, backend=backend)), (backend_name, backend)


def with_settings(solver: Solver, **settings: Any) -> Solver:
    """Return a solver with other settings."""
    return evolve(cast(Any, solver), **settings)  # type: ignore[no-any-return]


def describe(thing: Solver | QPBackend) -> str:
    """Return the name of a solver or backend, followed by the settings that differ from its own.

    It is the text that ``--solver`` and ``--backend`` read, and the repr where a setting cannot be written there.
    The settings ``tol`` and ``backend`` of a solver are left out: a comparison sets them.
    """
    return spell(thing.name, thing, _SET) or repr(thing)
