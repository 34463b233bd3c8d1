"""``structsvm report``, and what it has in common with the commands that run an experiment."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from attrs import evolve

from structsvm.cli.console import echo, echo_wrapped, note, progress_line, show_tables
from structsvm.cli.paths import FINISHED_EXPERIMENT, Command
from structsvm.cli.texts import example

if TYPE_CHECKING:
    from structsvm.protocols.experiment import Results
    from structsvm.protocols.experiment.report import Written


@click.command(
    cls=Command,
    name="report",
    short_help="Rewrite the report of an experiment.",
    epilog=example("structsvm report robust03-new"),
)
@click.argument("folder", type=FINISHED_EXPERIMENT)
def report_command(folder: Path) -> None:
    """Rewrite the report and the tables of an experiment, such as to add plots or after an update of this package.

    FOLDER is the --out folder of "structsvm experiment". Nothing is trained.
    """
    from structsvm.protocols.experiment import Results
    from structsvm.protocols.experiment.protocol import RESULTS

    results = Results.load(folder / RESULTS)
    show_results(results)
    show_files(write(results, folder))


def write(results: "Results", folder: Path, *, title: str | None = None) -> "Written":
    """Write the report of an experiment, with a line that says so while it is drawn."""
    from structsvm.protocols.experiment.report import write_report

    with progress_line() as say:
        say("writing the report")
        return write_report(results, folder, title=title)


def show_results(results: "Results") -> None:
    """Print the statistics of an experiment, and MAP over the pool for each variant."""
    from structsvm.protocols.experiment.report import data_table, legend, map_table

    tables = [map_table(results, variant) for variant in results.variants]
    show_tables(data_table(results), *(evolve(table, notes=()) for table in tables))
    echo_wrapped(*tables[0].notes, *legend(results), "")


def show_files(written: "Written") -> None:
    """Print where a report is, and why it has no plots."""
    from structsvm.protocols.experiment.protocol import RESULTS

    if written.missing:
        note(f"the report has no plots: {written.missing}")
    folder = written.page.parent
    names = ", ".join(path.name for path in written.tables)
    echo(f"results  {folder / RESULTS}")
    echo(f"tables   {names} in {folder}")
    echo(f"report   {written.page}")
