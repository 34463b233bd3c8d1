"""Types and checks of arguments and options, and examples for the help texts."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.exceptions import InputError
from structsvm.registry import Registry

if TYPE_CHECKING:
    from structsvm.metrics import Measure


class _File(click.Path):
    """The path of a file; "-" is none."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-":
            self.fail(
                "'-' is not supported: files are read more than once and written whole, so give the name of a "
                "file (./- for one of that name)",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


FILE = _File()


def example(*lines: str) -> str:
    """Return command lines as the text below a command's options, one a line."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])


def name_in(registry: Registry[Any]) -> Callable[[click.Context, click.Parameter, str | None], str | None]:
    """Return the callback of an option whose value must be the name of an object in a registry."""

    def check(_ctx: click.Context, _param: click.Parameter, name: str | None) -> str | None:
        try:
            if name is not None:
                registry.create(name)
        except InputError as error:
            raise click.BadParameter(str(error)) from None
        return name

    return check


def as_measures(_ctx: click.Context, _param: click.Parameter, names: tuple[str, ...]) -> "tuple[Measure, ...]":
    """Return the measures of these names: the callback of an option."""
    from structsvm.metrics import parse_measure

    try:
        return tuple(parse_measure(name) for name in names)
    except InputError as error:
        raise click.BadParameter(str(error)) from None


def as_measure(ctx: click.Context, param: click.Parameter, name: str) -> "Measure":
    """Return the measure of this name: the callback of an option."""
    (measure,) = as_measures(ctx, param, (name,))
    return measure


def positive(_ctx: click.Context, _param: click.Parameter, number: float) -> float:
    """Require a positive finite number: the callback of an option."""
    if not 0.0 < number < math.inf:
        raise click.BadParameter(f"it must be a positive finite number, got {number:g}")
    return number
