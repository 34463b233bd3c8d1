"""Options for bounds and signs of weights, by name or number of features."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click
import numpy as np
from attrs import frozen

from structsvm.cli.shared.options import several
from structsvm.foundation.settings import repeated
from structsvm.registry.spelling import is_whole, parse_number

if TYPE_CHECKING:
    from structsvm.data import RankingData

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

_SIGNS = {"1": 1, "+1": 1, "-1": -1, "0": 0}


@frozen
class Limit:
    """Smallest and largest weight of a feature, by name or number, or of all features (None)."""

    feature: str | None
    low: float
    high: float


def as_limits(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> tuple[Limit, ...]:
    """Parse limits written as LOW:HIGH or FEATURE:LOW:HIGH."""
    limits = []
    for text in several(ctx, param, texts):
        *feature, low, high = text.rsplit(":", 2) if ":" in text else ("", text, "none")
        try:
            ends = (parse_number(low or "-inf", float), parse_number(high or "inf", float))
        except ValueError:
            ends = np.nan, np.nan
        if np.isnan(ends).any():
            raise click.BadParameter(
                f"{text!r} is not a bound: write LOW:HIGH for all weights or FEATURE:LOW:HIGH for one, such as 0: or "
                "3:-1:1, and omit a number for no bound"
            )
        if ends[0] > ends[1]:
            raise click.BadParameter(f"{text!r}: low {ends[0]:g} is above high {ends[1]:g}: exchange them")
        if ends[0] == np.inf or ends[1] == -np.inf:
            raise click.BadParameter(f"{text!r}: no finite weight is from {ends[0]:g} to {ends[1]:g}")
        limits.append(Limit(feature[0] if feature else None, *ends))
    _require_once(limit.feature or "LOW:HIGH" for limit in limits)
    return tuple(limits)


def as_signs(ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]) -> dict[str, int]:
    """Parse signs written as FEATURE:SIGN."""
    pairs = []
    for text in several(ctx, param, texts):
        feature, _, sign = text.rpartition(":")
        if not feature or sign not in _SIGNS:
            raise click.BadParameter(
                f"{text!r} is not FEATURE:SIGN, such as 3:+1 or age:-1: +1 if scores must not fall as the feature "
                "rises, -1 if they must not rise"
            )
        pairs.append((feature, _SIGNS[sign]))
    _require_once(feature for feature, _ in pairs)
    return dict(pairs)


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


def settings_for(data: "RankingData", limits: Sequence[Limit], signs: Mapping[str, int]) -> dict[str, Any]:
    """Return ``bounds`` and ``monotonic_cst`` of a ranker; limits of a feature override limits of all."""
    settings: dict[str, Any] = {}
    width = data.X.shape[1]
    of_all = next((limit for limit in limits if limit.feature is None), Limit(None, -np.inf, np.inf))
    of_one = {limit.feature: limit for limit in limits if limit.feature is not None}
    low, high = np.full(width, of_all.low), np.full(width, of_all.high)
    for column, limit in _by_column(data, of_one, "--bounds"):
        low[column], high[column] = limit.low, limit.high
    if limits:
        settings["bounds"] = (low, high) if of_one else (of_all.low, of_all.high)
    monotonic = np.zeros(width, dtype=np.int64)
    for (column, sign), feature in zip(_by_column(data, signs, "--monotonic-cst"), signs, strict=True):
        monotonic[column] = sign
        if (sign > 0 and high[column] < 0.0) or (sign < 0 and low[column] > 0.0):
            raise click.BadParameter(
                f"{feature}:{sign:+d} and --bounds contradict each other: the weight is between {low[column]:g} and "
                f"{high[column]:g}",
                param_hint="'--monotonic-cst'",
            )
    if signs:
        settings["monotonic_cst"] = monotonic
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


def _require_once(features: Iterable[str]) -> None:
    twice = repeated(features)
    if twice is not None:
        raise click.BadParameter(f"{twice} is given twice: leave one out")
