"""``structsvm show``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.console import counted, echo, show_tables
from structsvm.cli.files import read_model
from structsvm.cli.paths import INPUT, Command
from structsvm.cli.plots import check_plot, with_plot, write_plot
from structsvm.cli.results import shows_text, with_csv, with_json, write_json, write_result
from structsvm.cli.texts import example
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from structsvm.tables import Column, Table

_PLOTTED = 40
"""Bars of a plot, at most."""

_LISTED = 20
"""Numbers of a setting that are shown in its line, at most."""


@click.command(
    cls=Command,
    name="show",
    short_help="Show the weights of a model, and how it was trained.",
    epilog=example("structsvm show m.npz --top 10", "structsvm show m.npz --csv weights.csv --plot weights.svg"),
)
@click.argument("model", type=INPUT)
@click.option("--top", type=click.IntRange(min=1), help="Show only this many, the largest.  [default: all]")
@with_csv
@with_json
@with_plot("File for a plot of what is shown, such as weights.svg, .pdf or .png.")
def show_command(
    model: Path, top: int | None, csv_path: Path | None, json_path: Path | None, plot_path: Path | None
) -> None:
    """Show the weights of a trained model, the largest in absolute value first, and the record of its training.

    Features are shown by name if the model knows their names, and otherwise by their numbers in LETOR files, from 1.
    The weights of a structural SVM are numbered as its joint features, and its loss need not be at hand.
    """
    from structsvm.estimators.record import training_record
    from structsvm.tables import as_csv

    text = shows_text(csv_path, json_path)
    check_plot(plot_path)
    ranker = read_model(model, structural=True)
    table = _table(ranker, str(model), top)
    record = training_record(ranker)
    write_result(as_csv([table]), csv_path)
    write_json({"model": model, **record, "rows": table.records, "notes": table.notes}, json_path)
    if text:
        width = max(map(len, record))
        echo(*(f"{name.replace('_', ' '):{width}}  {_said(name, value, ranker)}" for name, value in record.items()), "")
        show_tables(table)
    if plot_path is not None:
        _draw(table, plot_path)


def _table(ranker: Any, title: str, top: int | None) -> "Table":
    from structsvm.estimators.ranking import Parts, RankingEstimator
    from structsvm.estimators.record import at_bounds
    from structsvm.tables import Table

    if isinstance(ranker, RankingEstimator):
        parts, names = ranker.parts(), ranker.known_names
    else:
        parts, names = Parts.of("weight", ranker.coef_, "Features are joint ones, as its loss makes them."), None
    at = at_bounds(ranker)
    limited = any(at)
    further = [name for name in (parts.rows[0] if parts.rows else ()) if name not in ("feature", "value")]
    records = [
        {
            "feature": row["feature"] + 1,
            "name": None if names is None else names[row["feature"]],
            **{name: row[name] for name in further},
            parts.quantity: row["value"],
            **({"at_bound": at[row["feature"]] or ""} if limited else {}),
        }
        for row in parts.rows[:top]
    ]
    shown = ["feature", *(["name"] if names else []), *further, parts.quantity, *(["at_bound"] if limited else [])]
    left = len(parts.rows) - len(records)
    more = (f"{counted(left, 'further one')} not shown: --top {top}.",) if left else ()
    return Table(title, tuple(_column(name, records) for name in shown), (tuple(records),), (*parts.notes, *more))


def _column(name: str, records: "list[dict[str, Any]]") -> "Column":
    from structsvm.tables import Column

    if all(isinstance(record[name], str | bool) for record in records):
        return Column.text(name.replace("_", " "), name)
    return Column.number(name, name, "d" if name == "feature" else ".6g", missing="-")


def _said(name: str, value: Any, ranker: Any) -> str:
    """Return an entry of the record in words, what is of features by their names."""
    if value is None or name not in ("bounds", "monotonic_cst", "weights_at_a_bound"):
        return _in_words(value)
    names = getattr(ranker, "known_names", None) or [f"feature {k + 1}" for k in range(len(ranker.coef_))]
    if name == "bounds":
        low, high = value
        return _in_words(_ranges(low, high, names))
    if name == "monotonic_cst":
        pairs = value.items() if isinstance(value, dict) else zip(names, value, strict=True)
        return _in_words([f"{feature}: {sign:+d}" for feature, sign in pairs if sign])
    from structsvm.estimators.record import at_bounds

    at = [feature for feature, end in zip(names, at_bounds(ranker), strict=True) if end]
    return str(value) + (f": {', '.join(at)}" if 0 < len(at) <= _LISTED else "")


def _ranges(low: Any, high: Any, names: "Sequence[str]") -> list[str]:
    """Return what bounds say of all weights, or of each that has one."""
    if not isinstance(low, list) and not isinstance(high, list):
        return [_range(low, high)]
    ends = (end if isinstance(end, list) else [end] * len(names) for end in (low, high))
    return [
        f"{name}: {_range(least, most)}"
        for name, least, most in zip(names, *ends, strict=True)
        if (least, most) != (None, None)
    ]


def _range(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return "none" if low == high else f"at most {high:g}" if low is None else f"at least {low:g}"
    return f"{low:g} to {high:g}"


def _in_words(value: Any) -> str:
    if isinstance(value, list) and len(value) <= _LISTED and all(isinstance(each, str) for each in value):
        return ", ".join(value) or "none"
    if isinstance(value, list) and _numbers_in(value) > _LISTED:
        return "one for each feature, which --json shows"
    return f"{value:.8g}" if isinstance(value, float) else "-" if value is None else str(value)


def _numbers_in(value: Any) -> int:
    return sum(map(_numbers_in, value)) if isinstance(value, list) else 1


def _draw(table: "Table", path: Path) -> None:
    """Draw the values of a table as bars."""
    from structsvm.plots import WeightsDisplay

    records, quantity = table.records[:_PLOTTED], next(each.heading for each in reversed(table.columns) if each.right)
    if not records:
        raise InputError(f"{path} was not written: each {quantity} is 0, so that there is nothing to draw")
    names = [record["name"] or f"feature {record['feature']}" for record in records]
    display = WeightsDisplay([record[quantity] for record in records], names, quantity=quantity, top=None)
    write_plot(path, 7.0, 1.0 + 0.22 * max(len(records), 3), display.plot)
