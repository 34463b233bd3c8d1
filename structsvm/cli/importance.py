"""``structsvm importance``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve

from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, progress_line, show_tables
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.files import read_model_and_data
from structsvm.cli.shared.options import COUNT, SEED, confidence_option, measure_option
from structsvm.cli.shared.paths import DATA, INPUT
from structsvm.cli.shared.results import Outputs, with_outputs, write_plot
from structsvm.exceptions import counted

if TYPE_CHECKING:
    from structsvm.metrics import Measure


@command(
    "importance",
    "Show how much a model relies on each feature.",
    examples=["structsvm importance m.npz test.txt", "structsvm importance m.npz test.txt --top 10 --plot matter.svg"],
)
@click.argument("model", type=INPUT)
@click.argument("data", type=DATA, nargs=-1, required=True)
@measure_option(
    help="Measure whose decrease is the importance of a feature.  [default: the model's measure, else map]",
)
@click.option("--repeats", type=COUNT, default=5, help="Number of shuffles of each feature.")
@click.option(
    "--across-queries",
    is_flag=True,
    help="Shuffle among all documents instead of within each query. Needed for features of queries, which trees and "
    "networks can use.",
)
@confidence_option("Level of the intervals.")
@click.option("--seed", type=SEED, default=0, help="Seed of the shuffles.")
@click.option("--top", type=COUNT, help="Number of features to show, the most important first.  [default: all]")
@with_outputs(
    "Plot the importances to this file, such as importance.svg, .pdf or .png. Without --top, it has 20 features."
)
@with_columns()
def importance_command(
    model: Path,
    data: tuple[Path, ...],
    measure: "Measure | None",
    repeats: int,
    across_queries: bool,
    confidence: float,
    seed: int,
    top: int | None,
    outputs: Outputs,
    columns: Columns,
) -> None:
    """Show how much a measure decreases if the values of a feature are shuffled within each query.

    Each importance has an interval for the mean over the population of queries. Use queries that did not train the
    model. A feature that is equal for all documents of each query has importance 0, because it changes no ranking.
    Correlated features can replace each other, so each of them may have a small importance: "structsvm select" shows
    how many features are needed.
    """
    from structsvm.inspection import query_permutation_importance

    scorer, read = read_model_and_data(model, data, columns=columns)
    with progress_line(shown=outputs.text) as say:
        importance = query_permutation_importance(
            scorer,
            read.X,
            read.y,
            read.qid,
            measure=measure,
            n_repeats=repeats,
            across_queries=across_queries,
            confidence_level=confidence,
            random_state=seed,
            callback=lambda feature: say(f"feature {feature + 1} of {scorer.n_features}"),
        )
    table = evolve(importance.table(top), title=str(model))
    content = {
        "model": model,
        "data": data,
        "queries": len(importance.query_ids),
        "measure": importance.measure,
        "baseline": importance.baseline,
        "confidence": confidence,
        "repeats": repeats,
        "rows": table.records,
        "notes": table.notes,
    }
    outputs.write(content, table.to_csv)
    if outputs.text:
        show_tables(table)
        left = scorer.n_features - len(table.records)
        if left:
            echo(f"{counted(left, 'further feature')} not shown (--top {top}).")
    if outputs.plot is not None:
        from structsvm.plots import FeatureImportanceDisplay

        display = FeatureImportanceDisplay(importance, top=top or 20)
        write_plot(outputs.plot, 7.0, 1.0 + 0.22 * max(len(display.names), 3), display.plot, quiet=not outputs.text)
