"""Types of arguments and options."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.registry import Registry

if TYPE_CHECKING:
    from structsvm.metrics import Measure

FILE: "click.Path[Path]" = click.Path(path_type=Path)


def example(*lines: str) -> str:
    """Return command lines as the text below a command's options, one a line."""
    return "\n".join(["\b", "Example:", *(f"  {line}" for line in lines)])


class Name(click.ParamType[str]):
    """The name of a loss, solver or backend.

    Parameters
    ----------
    registry : where the name must be found.
    """

    name = "name"

    def __init__(self, registry: Registry[Any]) -> None:
        self.registry = registry

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is; bad usage where nothing is called so."""
        try:
            self.registry.find(value)
        except UnknownNameError as error:
            self.fail(str(error), param, ctx)
        return value


class MeasureName(click.ParamType["Measure"]):
    """The name of a measure, as `structsvm.metrics.parse_measure` reads it."""

    name = "name"

    def convert(self, value: "str | Measure", param: click.Parameter | None, ctx: click.Context | None) -> "Measure":
        """Return the measure; bad usage where the text is not one."""
        from structsvm.metrics import parse_measure

        if not isinstance(value, str):
            return value
        try:
            return parse_measure(value)
        except InputError as error:
            self.fail(str(error), param, ctx)


class Positive(click.ParamType[float]):
    """A positive finite number."""

    name = "number"

    def convert(self, value: str | float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number; bad usage where it is not one, or not above 0."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0.0 < number < math.inf:
            self.fail(f"it must be a positive finite number, got {value!r}", param, ctx)
        return number
