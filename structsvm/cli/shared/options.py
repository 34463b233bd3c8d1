"""Types and callbacks of options and arguments."""

import inspect
import math
import re
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource
from click.types import FloatParamType, IntParamType

from structsvm.exceptions import InputError
from structsvm.features.scaling.names import FEATURE_SCALINGS, scaling_named
from structsvm.foundation.settings import is_number, repeated
from structsvm.registry import Registry, backends, losses, measures, solvers
from structsvm.registry.spelling import parse_number, split_outside

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from structsvm.metrics import Measure
    from structsvm.solvers import Solver

N = TypeVar("N", bound=float | None)
T = TypeVar("T", bound=Callable[..., Any])

_PER_DECADE = 2
_MOST_VALUES = 100


class _Plain:
    """A type of numbers that are written with the digits 0 to 9."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str):
            try:
                parse_number(value, float)
            except ValueError:
                self.fail(f"{value!r} is not a number", param, ctx)  # type: ignore[attr-defined]
        return super().convert(value, param, ctx)  # type: ignore[misc]


class Whole(_Plain, click.IntRange):
    """Whole numbers in a range."""


class Number(_Plain, click.FloatRange):
    """Numbers in a range."""


class AnyNumber(_Plain, FloatParamType):
    """Numbers without a range, for which Click would show "x<=None" in the help."""


class AnyWhole(_Plain, IntParamType):
    """Whole numbers without a range."""


COUNT, SEED = Whole(min=1), Whole(min=0)
"""Types of options for whole numbers."""


class Dependent(click.Option):
    """An option without effect unless ``needs``, in words, are there; ``when`` decides it from all values."""

    def __init__(self, *args: Any, needs: str, when: Callable[[Mapping[str, Any]], Any], **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._needs, self._when = needs, when

    def require_effect(self, ctx: click.Context) -> None:
        """Raise UsageError if the option is on the command line and has no effect."""
        source = ctx.get_parameter_source(self.name or "")
        if source not in (ParameterSource.DEFAULT, None) and not self._when(ctx.params):
            name = max(self.opts, key=len)
            raise click.UsageError(f"{name} has no effect without {self._needs}: add that, or leave {name} out", ctx)


def needing(needs: str, when: Callable[[Mapping[str, Any]], Any] | None = None) -> dict[str, Any]:
    """Return the settings of a `Dependent` option; without ``when``, ``needs`` is another option."""
    return {"cls": Dependent, "needs": needs, "when": when or itemgetter(needs.removeprefix("--"))}


_ARGUMENT = re.compile(r"\b(loss|solver|backend|measure)=\.\.\.")
"""Arguments named in messages of the library, and the corresponding options."""


def name_option(registry: Registry[Any], *names: str, **settings: Any) -> Callable[[T], T]:
    """Return an option for a name in a registry."""
    return click.option(
        *names, metavar="NAME", callback=accepted_by(registry.create), shell_complete=names_of(registry), **settings
    )


def list_option(*names: str, **settings: Any) -> Callable[[T], T]:
    """Return an option for several texts, separated by commas or in repeated options."""
    return click.option(*names, **{"metavar": "NAMES", "multiple": True, "callback": several, **settings})


def number_option(*names: str, **settings: Any) -> Callable[[T], T]:
    """Return an option for a positive finite number."""
    return click.option(*names, **{"type": AnyNumber(), "metavar": "NUMBER", "callback": above_zero, **settings})


def accepted_by(check: Callable[[str], object]) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return a callback for an option whose text the library must accept."""

    def require(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | None:
        try:
            if text is not None:
                check(text)
        except InputError as error:
            raise bad(error) from None
        return text

    return require


def names_of(registry: Registry[Any]) -> "Callable[[click.Context, click.Parameter, str], list[CompletionItem]]":
    """Return a shell completion for names in a registry; of several names, it completes the last."""

    def complete(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> "list[CompletionItem]":
        from click.shell_completion import CompletionItem

        done, comma, begun = incomplete.rpartition(",")
        return [CompletionItem(done + comma + name) for name in registry.names() if name.startswith(begun)]

    return complete


def bad(error: InputError) -> click.BadParameter:
    """Return the option's error for an error of the library, with options instead of arguments."""
    return click.BadParameter(_ARGUMENT.sub(r"--\1", str(error)))


def several(_ctx: click.Context, _param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Split each "a,b,c" at the commas; raise BadParameter for an empty entry or a repetition."""
    parts = []
    for text in texts:
        entries = [part.strip() for part in split_outside(text, ",")]
        if not all(entries):
            raise click.BadParameter(f"{text!r} has an empty entry: write it as a,b,c")
        parts += entries
    twice = repeated(parts)
    if twice is not None:
        raise click.BadParameter(f"{twice!r} is given twice: leave one out")
    return tuple(parts)


def several_or_none(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Split as `several`, or return None if the option is not used."""
    return several(ctx, param, texts) or None


def names_in(registry: Registry[Any]) -> Callable[[click.Context, click.Parameter, tuple[str, ...]], tuple[str, ...]]:
    """Return a callback for an option with several names in a registry, separated by commas."""

    def check(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[str, ...]:
        names = several(ctx, param, texts)
        objects: list[Any] = []
        for name in names:
            try:
                objects.append(registry.create(name))
            except InputError as error:
                raise bad(error) from None
            if objects[-1] in objects[:-1]:
                first = names[objects.index(objects[-1])]
                raise click.BadParameter(f"{first!r} and {name!r} are the same {registry.kind}: leave one out")
        return names

    return check


def number_list(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[float, ...]:
    """Parse positive finite numbers separated by commas."""
    numbers: list[float] = []
    for text in several(ctx, param, texts):
        try:
            numbers.append(above_zero(ctx, param, parse_number(text, float)))
        except ValueError:
            raise click.BadParameter(f"{text!r} is not a number; several are written as 1,10,100") from None
        if numbers[-1] in numbers[:-1]:
            raise click.BadParameter(f"{text} is given twice: leave one out")
    return tuple(numbers)


def as_Cs(_ctx: click.Context, _param: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """Parse "low:high" or "low:high:count" into values of C."""
    if text is None:
        return None
    from structsvm.training.choose import evenly_spaced

    try:
        low, high, *count = text.split(":")
        first, last = parse_number(low, float), parse_number(high, float)
        steps = parse_number(count[0], int) - 1 if len(count) == 1 else round(_PER_DECADE * math.log10(last / first))
        if not (0.0 < first < last < math.inf and len(count) <= 1 and 1 <= steps < _MOST_VALUES):
            raise ValueError
    except (ArithmeticError, ValueError):
        raise click.BadParameter(
            f"{text!r} is not low:high or low:high:count, with 0 < low < high and 2 to {_MOST_VALUES} values, "
            "as in 0.01:1000 (two values a decade)"
        ) from None
    return evenly_spaced(first, last, steps + 1)


def as_measures(ctx: click.Context, param: click.Parameter, names: tuple[str, ...]) -> "tuple[Measure, ...]":
    """Return the measures with these names; a text may have several names, separated by commas."""
    from structsvm.metrics import parse_measure

    try:
        return tuple(parse_measure(part) for name in names for part in several(ctx, param, (name,)))
    except InputError as error:
        raise bad(error) from None


def as_measure(ctx: click.Context, param: click.Parameter, name: str | None) -> "Measure | None":
    """Return the measure with this name; None if the option is absent and has no default."""
    if name is None:
        return None
    measure, *others = as_measures(ctx, param, (name,))
    if others:
        raise click.BadParameter(f"{name!r} is more than one measure: give one")
    return measure


def measure_option(*names: str, **settings: Any) -> Callable[[T], T]:
    """Return the option --measure, for one measure, or with ``multiple`` for several."""
    callback = as_measures if settings.get("multiple") else as_measure
    complete = names_of(measures)
    return click.option("--measure", *names, metavar="NAME", callback=callback, shell_complete=complete, **settings)


fold_seed = click.option(
    "--seed",
    type=SEED,
    default=0,
    **needing("--folds"),
    help="Seed of the random split into folds.",
)
"""Option for the seed of --folds."""


def confidence_option(help: str) -> Callable[[T], T]:
    """Return the option --confidence, the level of intervals."""
    level = Number(0, 1, min_open=True, max_open=True)
    return click.option("--confidence", type=level, default=0.95, help=help)


def as_scaling(_ctx: click.Context, _param: click.Parameter, name: str) -> str | None:
    """Return the name of a scaling; None for "none"."""
    try:
        return scaling_named("it", name)
    except InputError:
        raise click.BadParameter(f"unknown scaling {name!r}; choose none, {', '.join(FEATURE_SCALINGS)}") from None


def with_normalize(more: str = "") -> Callable[[T], T]:
    """Return the option --normalize for features; ``more`` is added to its help."""
    return click.option(
        "--normalize",
        metavar="NAME",
        callback=as_scaling,
        default="none",
        help="Normalize the features first: query-min-max, query-z-score (both within each query) or standard (over "
        f"all documents). {more}".strip(),
    )


def as_missing(_ctx: click.Context, _param: click.Parameter, text: str | None) -> str | float | None:
    """Return the name of a statistic, or a number."""
    if text is None or text in ("median", "mean"):
        return text
    try:
        return parse_number(text, float)
    except ValueError:
        raise click.BadParameter(f"{text!r} is not median, mean or a number") from None


missing_option = click.option(
    "--missing",
    metavar="NUMBER",
    callback=as_missing,
    help="Replace missing features by the median or mean of the training documents, or by a number; the model stores "
    "the replacements. Trees and rank_boost learn from missing features as they are.  [default: missing features are "
    "an error]",
)
"""Option for the replacement of missing features."""


def above_zero(_ctx: click.Context, _param: click.Parameter, number: N) -> N:
    """Require a positive finite number, if the option is given."""
    if number is not None and not is_number(number, above=0.0):
        raise click.BadParameter(f"it must be a positive finite number, got {number:g}")
    return number


def threads(_ctx: click.Context, _param: click.Parameter, jobs: int | None) -> int | None:
    """Require a number of threads as in ``n_jobs``."""
    if jobs == 0:
        raise click.BadParameter("it must be a number of threads, -1 for all processors or -2 for all but one, got 0")
    return jobs


def with_tol(default: float) -> Callable[[T], T]:
    """Return the option ``--tol`` of a command that runs solvers."""
    return number_option(
        "--tol", default=default, help="Stop when the certified gap to the optimum is at most tol * C."
    )


def require_ranking_loss(name: str) -> None:
    """Raise UsageError for a loss that rankers cannot use."""
    if not losses.create(name).scores_rows:
        raise click.UsageError(f"--loss {name} does not score single documents, so it cannot rank: choose another loss")


def make_solver(name: str, backend: str | None, settings: dict[str, Any]) -> "Solver":
    """Return a solver with the settings that are not None, after a check that its backend works."""
    arguments = {key: value for key, value in {"backend": backend, **settings}.items() if value is not None}
    for key in arguments:
        if key not in inspect.signature(solvers.find(name)).parameters:
            raise click.UsageError(f"the solver {name!r} has no setting {key!r}: leave --{key.replace('_', '-')} out")
    solver: Solver = solvers.create(name, **arguments)
    if backend is not None:
        import numpy as np

        from structsvm.solvers.qp import DualQP

        # Solve a QP of one cut, to report a missing package before data are read.
        one = np.ones(1)
        backends.create(backend).solve(DualQP(np.ones((1, 1)), one, np.zeros(1, dtype=np.int64), one, 1e-3))
    return solver
