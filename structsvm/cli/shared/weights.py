"""Options for bounds and signs of weights, by name or number of features."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click
import numpy as np

from structsvm.cli.shared.options import bad, several
from structsvm.exceptions import InputError
from structsvm.registry.spelling import is_whole, parse_number

if TYPE_CHECKING:
    from structsvm.data import RankingData

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

Limits: TypeAlias = dict[str, tuple[float, float]]
"""Smallest and largest weight of each feature, by name or number; "" stands for all features."""

_SIGNS = {"1": 1, "+1": 1, "-1": -1, "0": 0}


def as_limits(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> Limits:
    """Parse limits written as LOW:HIGH or FEATURE:LOW:HIGH."""
    from structsvm.problem.coordinates import checked_bounds

    limits: Limits = {}
    for text in several(ctx, param, texts):
        *feature, low, high = text.rsplit(":", 2) if ":" in text else ("", text, "none")
        try:
            ends = (parse_number(low or "-inf", float), parse_number(high or "inf", float))
            checked_bounds(ends, 1, repr(text), feature or ["every feature"])
        except InputError as error:
            raise bad(error) from None
        except ValueError:
            raise click.BadParameter(
                f"{text!r} is not a bound: write LOW:HIGH for all weights or FEATURE:LOW:HIGH for one, such as 0: or "
                "3:-1:1, and omit a number for no bound"
            ) from None
        _add(limits, feature[0] if feature else "", ends)
    return limits


def as_signs(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, int]:
    """Parse signs written as FEATURE:SIGN."""
    signs: dict[str, int] = {}
    for text in several(ctx, param, texts):
        feature, _, sign = text.rpartition(":")
        if not feature or sign not in _SIGNS:
            raise click.BadParameter(
                f"{text!r} is not FEATURE:SIGN, such as 3:+1 or age:-1: +1 if scores must not fall as the feature "
                "rises, -1 if they must not rise"
            )
        _add(signs, feature, _SIGNS[sign])
    return signs


def _add(settings: dict[str, T], feature: str, setting: T) -> None:
    if feature in settings:
        raise click.BadParameter(f"{feature or 'LOW:HIGH'} is given twice: leave one out")
    settings[feature] = setting


def with_bounds(more: str = "") -> Callable[[F], F]:
    """Add --bounds and --monotonic-cst, as ``limits`` and ``signs``; ``more`` ends the help of --bounds."""
    bounds = click.option(
        "--bounds",
        "limits",
        metavar="[FEATURE:]LOW:HIGH",
        callback=as_limits,
        multiple=True,
        help="Smallest and largest weight of a feature, by name or number, or of all features without FEATURE. Omit a "
        "number for no bound: 0: allows only weights that are not negative. Separate several by commas, as in "
        f"0:,3:-1:1. {more}".strip(),
    )
    signs = click.option(
        "--monotonic-cst",
        "signs",
        metavar="FEATURE:SIGN",
        callback=as_signs,
        multiple=True,
        help="Let scores only rise (+1) or only fall (-1) with a feature, given by name or number. Separate several by "
        "commas, as in 3:+1,age:-1.",
    )
    return lambda command: bounds(signs(command))


def settings_for(data: "RankingData", limits: Limits, signs: Mapping[str, int]) -> dict[str, Any]:
    """Return ``bounds`` and ``monotonic_cst`` of a ranker; limits of a feature override limits of all."""
    from structsvm.training import Regularizer

    settings: dict[str, Any] = {}
    width = data.X.shape[1]
    of_all = limits.get("", (-np.inf, np.inf))
    of_one = {feature: ends for feature, ends in limits.items() if feature}
    if limits:
        low, high = (np.full(width, end) for end in of_all)
        for column, ends in _by_column(data, of_one, "--bounds"):
            low[column], high[column] = ends
        settings["bounds"] = (low, high) if of_one else of_all
    if signs:
        settings["monotonic_cst"] = np.zeros(width, dtype=np.int64)
        for column, sign in _by_column(data, signs, "--monotonic-cst"):
            settings["monotonic_cst"][column] = sign
    names = data.feature_names or [str(k + 1) for k in range(width)]
    Regularizer("Ranker", **settings).limits(width, names)
    return settings


def _by_column(data: "RankingData", features: Mapping[str, T], option: str) -> list[tuple[int, T]]:
    """Return the columns of features by name, or else by number from 1, with their values."""
    columns = {name: k for k, name in enumerate(data.feature_names or ())}
    width = data.X.shape[1]
    features_by_column: dict[int, str] = {}
    for feature in features:
        column = columns.get(feature, int(feature) - 1 if is_whole(feature) else -1)
        if not 0 <= column < width:
            first = f", the first is named {next(iter(columns))!r}" if columns else ""
            raise click.BadParameter(
                f"the data have no feature {feature!r}: they are numbered 1 to {width}{first}", param_hint=f"'{option}'"
            )
        if column in features_by_column:
            raise click.BadParameter(
                f"{features_by_column[column]!r} and {feature!r} are the same feature", param_hint=f"'{option}'"
            )
        features_by_column[column] = feature
    return [(column, features[feature]) for column, feature in features_by_column.items()]
