"""Grids of parameters as values, and their points."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from structsvm.exceptions import InputError
from structsvm.protocols.model import Value

Grid = tuple[tuple[str, tuple[Any, ...]], ...]


def as_grid(grid: Mapping[str, Sequence[Any]] | Grid) -> Grid:
    """Return a grid as a value that does not change.

    Raises
    ------
    InputError : it is not values by name.
    """
    if not isinstance(grid, Mapping | tuple):
        raise InputError(f"grid must be a dict of values by the names of parameters, as {{'alpha': [1, 10]}}: {grid!r}")
    pairs = grid.items() if isinstance(grid, Mapping) else grid
    return tuple((name, _several(name, values)) for name, values in pairs)


def _several(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"grid must have a list of values for {name!r}, as [{values!r}]; it has {values!r}")
    return tuple(values)


def require_grid(model: Any, attribute: Any, grid: Grid) -> None:
    """Refuse a grid of parameters that the estimator does not have, or without values for one of them."""
    known = model.estimator.get_params()
    for name, values in grid:
        if name not in known:
            raise InputError(
                f"{model.name}: {type(model.estimator).__name__} has no parameter {name!r}; it has {', '.join(known)}"
            )
        if not values:
            raise InputError(f"{model.name}: the grid has no values for {name!r}")


def points(grid: Grid) -> Iterator[dict[str, Any]]:
    """Yield all combinations of the values of a grid; one without settings for a grid of no parameters.

    Parameters keep the order in which they were given, the last one changing fastest. (scikit-learn's ParameterGrid
    sorts them by name; the order decides among equals, and is kept in results.)
    """
    names = [name for name, _ in grid]
    for values in product(*(values for _, values in grid)):
        yield dict(zip(names, values, strict=True))


def value_of(settings: Mapping[str, Any]) -> Value:
    """Return a single number as it is, and other settings in words: "C=10, gamma=0.1"."""
    if len(settings) == 1:
        (value,) = settings.values()
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return ", ".join(f"{name}={value}" for name, value in settings.items())
