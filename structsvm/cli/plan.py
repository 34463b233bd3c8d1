"""``structsvm plan``."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.shared.collections import with_grades
from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo_wrapped, print_table
from structsvm.cli.shared.options import Number, Whole, measure_option, needing, number_option
from structsvm.cli.shared.paths import DATA, QRELS
from structsvm.cli.shared.results import shows_text, with_json, write_json
from structsvm.exceptions import counted

if TYPE_CHECKING:
    from structsvm.metrics import Measure

_PART = Number(0, 1, min_open=True, max_open=True)


@command(
    "plan",
    "Compute the queries that a comparison needs.",
    examples=[
        "structsvm plan --qrels qrels.txt new.gz old.gz --measure map --difference 0.01",
        "structsvm plan --qrels qrels.txt old.gz --queries 200 --systems 5",
        "structsvm plan --sd 0.12 --queries 50 --difference 0.02",
    ],
)
@click.argument("runs", type=DATA, nargs=-1, metavar="[RUN [RUN]]")
@click.option("--qrels", type=QRELS, help="Judgments of the runs in TREC's format.")
@with_grades
@measure_option(
    default="map",
    **needing("--qrels"),
    help="Measure of the runs, a mean over queries.",
)
@number_option("--sd", help="Standard deviation of the differences per query, instead of runs.")
@click.option("--queries", type=Whole(2), help="Number of queries.  [default: as in the runs]")
@number_option("--difference", help="Difference of the means to detect.")
@click.option("--power", type=_PART, default=0.8, help="Probability of detecting a difference of this size.")
@click.option("--level", type=_PART, default=0.05, help="Level of the two-tailed t-test, before the correction.")
@click.option("--systems", type=Whole(2), default=2, help="Number of systems, with the baseline.")
@click.option(
    "--all-pairs",
    is_flag=True,
    **needing("--systems 3 or more", lambda values: values["systems"] > 2),
    help="Compare all pairs of systems, instead of each system with the baseline.",
)
@click.option(
    "--correlation",
    type=Number(0, 1, max_open=True),
    help="With only one run: assumed correlation over queries between the two systems.  [default: 0.8]",
)
@with_json
def plan_command(
    runs: tuple[Path, ...],
    qrels: Path | str | None,
    grades: dict[int, int] | None,
    measure: "Measure",
    sd: float | None,
    queries: int | None,
    difference: float | None,
    power: float,
    level: float,
    systems: int,
    all_pairs: bool,
    correlation: float | None,
    json_path: Path | None,
) -> None:
    """Show which difference a comparison of systems can detect, and how many queries a difference needs.

    Both depend on the standard deviation of the differences per query. The command computes it from two runs, or from
    one run and an assumed correlation with a second run. Two runs are more accurate.

    With several systems, Bonferroni's correction divides the level by the number of comparisons.
    """
    from structsvm.data import load_qrels, load_run
    from structsvm.evaluation.planning import comparisons_of, queries_needed, smallest_difference, spread_of_runs

    if len(runs) > 2:
        raise click.UsageError(f"a plan compares at most two runs, got {len(runs)}: choose one or two")
    if sd is not None and (runs or qrels is not None):
        raise click.UsageError("--sd replaces the runs and --qrels: leave one out")
    if (sd is None and not runs) or bool(runs) != (qrels is not None):
        raise click.UsageError("give --sd, or --qrels and one or two runs")
    if correlation is not None and len(runs) != 1:
        raise click.UsageError("--correlation applies to one run only: leave it out")
    measured, assumed = None, None
    if qrels is not None:
        judgments = load_qrels(qrels, grades)
        sd, measured, assumed = spread_of_runs([load_run(path) for path in runs], judgments, measure, correlation)
    queries = queries or measured
    if queries is None and difference is None:
        raise click.UsageError("give --queries for the detectable difference, --difference for the queries, or both")
    assert sd is not None
    settings: dict[str, Any] = {
        "power": power,
        "significance_level": level,
        "systems": systems,
        "all_pairs": all_pairs,
    }
    smallest = None if queries is None else smallest_difference(sd, queries, **settings)
    low, high = measure.value_range if runs else (-math.inf, math.inf)
    too_few = None
    if queries is not None and smallest is not None and smallest > high - low:
        too_few = (
            f"No difference is detectable with {counted(queries, 'query', 'queries')}: it would be {smallest:.4f}, "
            f"but {measure} is between {low:g} and {high:g}. Plan with more queries."
        )
        smallest = None
    needed = None if difference is None else queries_needed(sd, difference, **settings)
    comparisons = comparisons_of(systems, all_pairs)
    report = {"sd": sd, "correlation": assumed, **settings, "comparisons": comparisons, "queries": queries}
    write_json({**report, "smallest": smallest, "difference": difference, "needed": needed}, json_path)
    if not shows_text(json_path):
        return
    shown = "none" if smallest is None else f"{smallest:.4f}"
    rows = [] if queries is None else [[f"{queries:,}", shown, "smallest difference"]]
    rows += [] if needed is None else [[f"{needed:,}", f"{difference:g}", "queries needed"]]
    print_table(["queries", "difference", "found"], rows)
    echo_wrapped(
        f"Power {100 * power:g}% of a two-tailed paired t-test at the level {level:g}"
        + (f" / {comparisons}, Bonferroni's correction for {comparisons} comparisons" if comparisons > 1 else "")
        + f". Standard deviation of differences: {sd:.4f}."
    )
    if assumed is not None:
        echo_wrapped(
            f"It follows from one run and an assumed correlation of {assumed:g} with the other system. A correlation "
            "of 0.5 needs 2.5 times the queries of 0.8, a correlation of 0.95 a quarter. Give two runs to measure it."
        )
    if too_few is not None:
        echo_wrapped(too_few)
    if measured is not None:
        echo_wrapped(f"It was estimated on {counted(measured, 'query', 'queries')}. Few queries make it uncertain.")
