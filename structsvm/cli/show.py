"""``structsvm show``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, show_tables
from structsvm.cli.shared.options import COUNT
from structsvm.cli.shared.paths import INPUT
from structsvm.cli.shared.results import Outputs, with_outputs, write_plot
from structsvm.exceptions import InputError, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from structsvm.foundation.tables.table import Table
    from structsvm.models import TrainedModel

_PLOTTED = 40
"""Largest number of bars of a plot."""

_LISTED = 20
"""Largest number of values shown for one setting."""


@command(
    "show",
    "Show the weights and the training record of a model.",
    examples=["structsvm show m.npz --top 10", "structsvm show m.npz --csv weights.csv --plot weights.svg"],
)
@click.argument("model", type=INPUT)
@click.option("--top", type=COUNT, help="Number of weights to show, the largest first.  [default: all]")
@with_outputs("Plot the weights to this file, such as weights.svg, .pdf or .png.")
def show_command(model: Path, top: int | None, outputs: Outputs) -> None:
    """Show the weights of a trained model, the largest in absolute value first, and the record of its training.

    Features have their names if the model stores names, and otherwise their numbers in LETOR files, from 1. The
    weights of a structural SVM are numbered as its joint features; its loss need not be importable.
    """
    from structsvm.loading import load_model

    shown = load_model(model)
    table = shown.table(top, str(model))
    left = len(shown.parts().rows) - len(table.records)
    if left:
        table = evolve(table, notes=(*table.notes, f"{counted(left, 'further one')} not shown (--top {top})."))
    record = shown.record
    outputs.write({"model": model, **record, "rows": table.records, "notes": table.notes}, table.to_csv)
    if outputs.text:
        width = max(map(len, record))
        echo(*(f"{name.replace('_', ' '):{width}}  {_entry(name, value, shown)}" for name, value in record.items()), "")
        show_tables(table)
    if outputs.plot is not None:
        _draw(table, outputs.plot)


def _entry(name: str, value: Any, model: "TrainedModel") -> str:
    """Return an entry of the record as text, with the names of features."""
    if value is None or name not in ("bounds", "monotonic_cst", "weights_at_a_bound"):
        return _in_words(value)
    ends = model.limits()
    names = model.names_of_parts or [f"feature {k + 1}" for k in range(len(ends))]
    if name == "bounds":
        low, high = value
        return _in_words(_ranges(low, high, names))
    if name == "monotonic_cst":
        pairs = value.items() if isinstance(value, dict) else zip(names, value, strict=True)
        return _in_words([f"{feature}: {sign:+d}" for feature, sign in pairs if sign])
    bounded = [feature for feature, end in zip(names, ends, strict=True) if end]
    return str(value) + (f": {', '.join(bounded)}" if 0 < len(bounded) <= _LISTED else "")


def _ranges(low: Any, high: Any, names: "Sequence[str]") -> list[str]:
    """Describe the bounds of all weights, or of each bounded weight."""
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
    if isinstance(value, list) and len(value) <= _LISTED and all(isinstance(entry, str) for entry in value):
        return ", ".join(value) or "none"
    if isinstance(value, list) and _numbers_in(value) > _LISTED:
        return "one for each feature, which --json shows"
    return f"{value:.8g}" if isinstance(value, float) else "-" if value is None else str(value)


def _numbers_in(value: Any) -> int:
    return sum(map(_numbers_in, value)) if isinstance(value, list) else 1


def _draw(table: "Table", path: Path) -> None:
    from structsvm.plots import WeightsDisplay

    records, quantity = (
        table.records[:_PLOTTED],
        next(column.heading for column in reversed(table.columns) if column.right),
    )
    if not records:
        raise InputError(f"{path} was not written: each {quantity} is 0, so the plot would be empty. Leave --plot out")
    names = [record["name"] or f"feature {record['feature']}" for record in records]
    display = WeightsDisplay([record[quantity] for record in records], names, quantity=quantity, top=None)
    write_plot(path, 7.0, 1.0 + 0.22 * max(len(records), 3), display.plot)
