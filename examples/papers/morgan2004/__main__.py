"""The command ``python -m examples.papers.morgan2004``."""

import sys
from pathlib import Path

import click

from examples.papers.morgan2004.plan import morgan
from examples.papers.morgan2004.report import write_morgan_report
from examples.papers.morgan2004.report.tables import data_table, difference_table, pick_table
from examples.papers.morgan2004.settings import MorganSettings
from structsvm.data import load_qrels
from structsvm.exceptions import StructSVMError
from structsvm.text import Index


def _grades(_context: click.Context, _option: click.Parameter, text: str | None) -> dict[int, int] | None:
    try:
        pairs = [each.split("=") for each in text.split(",")] if text else []
        return {int(old): int(new) for old, new in pairs} or None
    except ValueError:
        raise click.BadParameter(f"write each grade as OLD=NEW, such as 1=4,2=3: {text!r}") from None


@click.command()
@click.argument("index", type=click.Path(path_type=Path))
@click.option("--qrels", required=True, help="Judgments in TREC's format.")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder for results; one per experiment.")
@click.option("--grades", callback=_grades, help="Grades to replace, as OLD=NEW,...; for qrels with other scales.")
@click.option("--topics", help="Topics to choose from, separated by commas.  [default: all judged topics]")
@click.option("--terms", type=click.IntRange(1), default=20, show_default=True, help="Terms of the longest query.")
@click.option(
    "--min-relevant",
    type=click.IntRange(3),
    default=20,
    show_default=True,
    help="Relevant documents that a topic needs.",
)
@click.option("--repeats", type=click.IntRange(1), default=5, show_default=True, help="Random splits of each topic.")
@click.option(
    "--seed", "random_state", type=click.IntRange(0), default=0, show_default=True, help="Seed of the splits."
)
@click.option("--jobs", type=click.IntRange(1), help="Processes.  [default: one per processor]")
def main(
    index: Path,
    qrels: str,
    out: Path,
    grades: dict[int, int] | None,
    topics: str | None,
    jobs: int | None,
    **numbers: int,
) -> None:
    """Run the experiment of Morgan, Greiff and Henderson (HLT-NAACL 2004) on INDEX, a folder of `structsvm index`.

    The folder --out gets an HTML report, plots and tables. It also keeps finished trials, so the same command resumes
    an interrupted experiment.
    """
    if out.resolve() == index.resolve():
        raise click.BadParameter(f"{out} is the index; choose another folder for the results", param_hint="--out")
    settings = MorganSettings(**numbers)
    asked = None if topics is None else topics.split(",")
    results = morgan(
        Index.load(index),
        load_qrels(qrels, grades),
        settings,
        out,
        topics=asked,
        n_jobs=jobs,
        progress=_show,
    )
    for topic, reason in results.left_out.items():
        click.echo(f"note: topic {topic} left out: {reason}", err=True)
    if results.missing:
        click.echo(f"note: {results.missing} relevant documents are not in the index and were left out", err=True)
    for table in (data_table(results), pick_table(results), difference_table(results)):
        click.echo(str(table))
    written = write_morgan_report(results, out)
    if written.missing:
        click.echo(f"note: the report has no plots: {written.missing}", err=True)
    click.echo(f"report   {written.page}")


def _show(done: int, total: int) -> None:
    if sys.stderr.isatty():
        click.echo(f"\rtrial {done} of {total}", nl=done == total, err=True)


if __name__ == "__main__":
    try:
        main()
    except StructSVMError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command resumes from the finished trials")
