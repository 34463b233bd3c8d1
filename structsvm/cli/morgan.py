"""``structsvm morgan``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.collections import expanded, with_grades, with_topics
from structsvm.cli.console import counted, echo, note, note_left_out, progress_bar, progress_line, show_table
from structsvm.cli.failures import Failure
from structsvm.cli.paths import INDEX, MORGAN, QRELS, Command
from structsvm.cli.texts import example
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from structsvm.protocols.morgan import MorganResults


@click.command(
    cls=Command,
    name="morgan",
    short_help="Compare weight search with maximum entropy at each query length, as in Morgan's paper.",
    epilog=example("structsvm morgan vaswani-index --qrels qrels --out vaswani-lengths"),
)
@click.argument("index", type=INDEX)
@click.option("--qrels", type=QRELS, required=True, help="Judgments in TREC's format, or ir_datasets:NAME.")
@with_grades
@click.option("--out", type=MORGAN, required=True, help="Folder for the results; each experiment needs its own.")
@with_topics
@click.option(
    "--terms", type=click.IntRange(min=1), default=20, show_default=True, help="Number of terms in the longest query."
)
@click.option(
    "--min-relevant",
    type=click.IntRange(min=3),
    default=20,
    show_default=True,
    help="Relevant documents that a topic must have; a quarter of them is for training.",
)
@click.option(
    "--repeats", type=click.IntRange(min=1), default=5, show_default=True, help="Random splits of each topic."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random splits.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: one a processor]")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def morgan_command(
    index: Path,
    qrels: Path | str,
    grades: dict[int, int] | None,
    out: Path,
    topics: tuple[str, ...] | None,
    jobs: int | None,
    quiet: bool,
    **numbers: int,
) -> None:
    """Run the experiment of Morgan, Greiff and Henderson (HLT-NAACL 2004) on an index and its judgments.

    INDEX is a folder that `structsvm index` wrote. For each topic, its documents are split at random: a quarter to
    train, a quarter to validate and half to test on. The terms that tell most of relevance are added to the query one
    at a time, and weight search, maximum entropy and SVM-map learn their weights from the training documents.

    The output folder gets an HTML report, plots as SVG, and the tables as text, Markdown, LaTeX, CSV and JSON.

    Finished trials, of a topic and a split each, are kept there, too: Ctrl-C ends the experiment; the same command goes
    on with it, and comes to the same results.
    """
    from structsvm.data import load_qrels
    from structsvm.protocols.morgan import MorganSettings, morgan
    from structsvm.protocols.morgan.records import NAME
    from structsvm.protocols.morgan.report import write_morgan_report
    from structsvm.storage.records import count_records
    from structsvm.text import Index

    settings = MorganSettings(**numbers)
    with progress_line(shown=not quiet) as say:
        say("reading the index and judgments")
        judgments, read = load_qrels(qrels, grades), Index.load(index, verify=True)
    asked = None if topics is None else list(dict.fromkeys(expanded(topics, judgments.qid.tolist())))
    if asked == []:
        raise InputError(f"--topics {','.join(topics or ())} names none of the topics of {qrels}")
    try:
        with progress_bar("trials", shown=not quiet) as show:
            results = morgan(read, judgments, settings, out, topics=asked, jobs=jobs, progress=show)
    except KeyboardInterrupt:
        raise Failure(
            f"interrupted: {counted(count_records(out / NAME), 'trial')} in {out}; the same command goes on from there"
        ) from None
    _say(results)
    with progress_line(shown=not quiet) as say:
        say("writing the report")
        written = write_morgan_report(results, out)
    if written.missing:
        note(f"the report has no plots: {written.missing}")
    echo(f"files    {', '.join(path.name for path in written.others)} in {out}")
    echo(f"report   {written.page}")


def _say(results: "MorganResults") -> None:
    from structsvm.protocols.morgan.report.tables import data_table, difference_table, pick_table

    note_left_out(results.left_out)
    if results.missing:
        note(f"{counted(results.missing, 'relevant document')} of these topics not in the index, and left out")
    for table in (data_table(results), pick_table(results), difference_table(results)):
        show_table(table)
