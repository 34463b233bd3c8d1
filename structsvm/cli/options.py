"""Types and checks of arguments and options, and what is made of them."""

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from structsvm.exceptions import InputError
from structsvm.normalisation import NORMALISATIONS, normalisation_named
from structsvm.registry import Registry, backends, losses, solvers
from structsvm.registry.spelling import plain, split_outside
from structsvm.settings import is_number, repeated

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from structsvm.metrics import Measure
    from structsvm.solvers import Solver

_ARGUMENT = re.compile(r"\b(loss|solver|backend|measure)=\.\.\.")
"""What messages of the library say of an argument that is an option here."""


def _require_different(parts: tuple[str, ...]) -> None:
    twice = repeated(parts)
    if twice is not None:
        raise click.BadParameter(f"{twice!r} is given twice: leave one out")


def name_in(registry: Registry[Any]) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return the callback of an option whose value must be the name of an object in a registry."""

    def check(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
        try:
            if name is not None:
                registry.create(name)
        except InputError as error:
            raise bad(error) from None
        return name

    return check


def names_of(registry: Registry[Any]) -> "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]":
    """Return the shell completion of an option that takes names of a registry, of several the last one."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        done, comma, begun = incomplete.rpartition(",")
        return [CompletionItem(done + comma + name) for name in registry.names() if name.startswith(begun)]

    return complete


def bad(error: InputError) -> click.BadParameter:
    """Return the error of an option for one of the library, with options in place of its arguments."""
    return click.BadParameter(_ARGUMENT.sub(r"--\1", str(error)))


def several(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return what is given as "a,b,c", once or more often, without repetitions: the callback of an option."""
    parts = []
    for text in texts:
        found = [part.strip() for part in split_outside(text, ",")]
        if not all(found):
            raise click.BadParameter(f"{text!r} has an empty entry: write it as a,b,c")
        parts += found
    _require_different(tuple(parts))
    return tuple(parts)


def several_or_none(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Return what `several` does, or None where the option is not given."""
    return several(ctx, param, texts) or None


def names_in(registry: Registry[Any]) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], tuple[str, ...]]:
    """Return the callback of an option whose values, separated by commas, must be names in a registry."""

    def check(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
        names = several(ctx, param, texts)
        made: list[Any] = []
        for name in names:
            try:
                made.append(registry.create(name))
            except InputError as error:
                raise bad(error) from None
            if made[-1] in made[:-1]:
                first = names[made.index(made[-1])]
                raise click.BadParameter(f"{first!r} and {name!r} are the same {registry.kind}: leave one out")
        return names

    return check


def numbers(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[float, ...]:
    """Return positive finite numbers that are separated by commas: the callback of an option."""
    found: list[float] = []
    for text in several(ctx, param, texts):
        try:
            found.append(positive(ctx, param, float(text)))
        except ValueError:
            raise click.BadParameter(f"{text!r} is not a number; several are written as 1,10,100") from None
        if found[-1] in found[:-1]:
            raise click.BadParameter(f"{text} is given twice: leave one out")
    return tuple(found)


def as_measures(_ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> "tuple[Measure, ...]":
    """Return the measures of these names: the callback of an option."""
    from structsvm.metrics import parse_measure

    for name in names:
        parts = [part.strip() for part in split_outside(name, ",")]
        if len(parts) > 1:
            way_out = (
                f"give {param.opts[0]} for each: {' '.join(f'{param.opts[0]} {part}' for part in parts)}"
                if param.multiple
                else "give one"
            )
            raise click.BadParameter(f"{name!r} is more than one measure: {way_out}")
    try:
        return tuple(parse_measure(name) for name in names)
    except InputError as error:
        raise bad(error) from None


def as_measure(ctx: click.Context, param: click.Parameter, name: str) -> "Measure":
    """Return the measure of this name: the callback of an option."""
    (measure,) = as_measures(ctx, param, (name,))
    return measure


def as_normalisation(_ctx: click.Context, _param: click.Parameter, name: str) -> str | None:
    """Return the normalisation of this name, None for "none": the callback of an option."""
    try:
        return None if plain(name) == "none" else normalisation_named("it", name)
    except InputError:
        raise click.BadParameter(f"{name!r} is none of none, {', '.join(NORMALISATIONS)}") from None


def positive(_ctx: click.Context, _param: click.Parameter, number: float) -> float:
    """Require a positive finite number: the callback of an option."""
    if not is_number(number, above=0.0):
        raise click.BadParameter(f"it must be a positive finite number, got {number:g}")
    return number


with_tol = click.option(
    "--tol",
    type=float,
    metavar="NUMBER",
    callback=positive,
    default=1e-3,
    show_default=True,
    help="Stop when the objective is proved to be within tol * C of the optimum.",
)
"""The option of commands that run solvers."""


def require_ranking_loss(name: str, class_weight: str | None = None) -> None:
    """Refuse a loss that no ranker can learn, and class weights where there are no classes.

    Raises
    ------
    click.UsageError : in both cases.
    """
    loss = losses.create(name)
    if not loss.scores_rows:
        raise click.UsageError(
            f"--loss {name} does not give each document one score, so it cannot rank: choose another"
        )
    if class_weight and not loss.per_row:
        raise click.UsageError(
            f"--class-weight is for losses that learn from documents one by one, such as zero_one; "
            f"--loss {name} learns from queries: leave it out"
        )


def make_solver(name: str, backend: str | None, settings: dict[str, Any]) -> "Solver":
    """Return a solver with these settings, those that are None left to it, after a try of its backend.

    Parameters
    ----------
    name : name of the solver.
    backend : name of the QP backend; None: the solver's own.
    settings : other settings by name.

    Raises
    ------
    click.UsageError : when the solver does not have a setting.
    NotInstalledError : when the package that the backend needs is missing.
    """
    given = {key: value for key, value in {"backend": backend, **settings}.items() if value is not None}
    known = inspect.signature(solvers.find(name)).parameters
    for key in given:
        if key not in known:
            raise click.UsageError(f"the solver {name!r} has no setting {key!r}: leave --{key.replace('_', '-')} out")
    solver: Solver = solvers.create(name, **given)
    if backend is not None:
        _try_backend(backend)
    return solver


def _try_backend(name: str) -> None:
    """Solve a QP of one cut, which fails at once where a package is missing, and not after the data were read."""
    import numpy as np

    from structsvm.qp import DualQP

    backends.create(name).solve(DualQP(np.ones((1, 1)), np.ones(1), np.zeros(1, dtype=np.int64), np.ones(1), 1e-3))
