"""``structsvm experiment`` and ``structsvm report``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from structsvm.cli.shared.collections import expanded, with_grades
from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import (
    echo,
    echo_wrapped,
    note,
    progress_bar,
    progress_line,
    show_tables,
)
from structsvm.cli.shared.failures import Failure
from structsvm.cli.shared.options import COUNT, SEED, list_option, several_or_none
from structsvm.cli.shared.paths import EXPERIMENT, FINISHED_EXPERIMENT, QRELS, RUN_FOLDER
from structsvm.exceptions import InputError, counted, first_of

if TYPE_CHECKING:
    from structsvm.data import Pool
    from structsvm.protocols import Results


@command(
    "experiment",
    "Compare SVMs on the runs of retrieval systems, as in the paper on SVM-map.",
    examples=["structsvm experiment --runs runs/ --qrels qrels.txt --topics 601-650 --out robust03-new"],
)
@click.option(
    "--runs", type=RUN_FOLDER, required=True, help="Folder of TREC runs, plain or compressed: the base functions."
)
@click.option("--qrels", type=QRELS, required=True, help="Judgments in TREC's format.")
@with_grades
@click.option("--out", type=EXPERIMENT, required=True, help="Folder for the results; each experiment needs its own.")
@list_option(
    "--topics",
    metavar="LIST",
    callback=several_or_none,
    help="Topics and ranges of topics, such as 301,601-650.  [default: all]",
)
@click.option("--trials", type=COUNT, default=50, help="Number of trials.")
@click.option("--train", type=COUNT, default=10, help="Training queries in each trial.")
@click.option(
    "--validation",
    type=COUNT,
    default=5,
    help="Validation queries in each trial, which choose C. All other queries are for the test.",
)
@click.option("--bins", type=COUNT, default=50, help="Thresholds for each base function.")
@click.option("--seed", "random_state", type=SEED, default=0, help="Seed of the random trials.")
@click.option("--jobs", type=COUNT, help="Number of processes.  [default: one per processor]")
@list_option(
    "--models",
    callback=several_or_none,
    help="Models, such as svm-map,rankboost. The first is compared with each other model.  [default: the paper's]",
)
@click.option("--with-best", is_flag=True, help="Run only the variant with all base functions.")
@click.option("--without-best", is_flag=True, help="Run only the variant without the best base function.")
@click.option("-q", "--quiet", is_flag=True, help="Show no progress.")
def experiment_command(
    runs: Path,
    qrels: Path | str,
    grades: dict[int, int] | None,
    out: Path,
    topics: tuple[str, ...] | None,
    jobs: int | None,
    models: tuple[str, ...] | None,
    with_best: bool,
    without_best: bool,
    quiet: bool,
    **numbers: int,
) -> None:
    """Run the experiment of Yue, Finley, Radlinski and Joachims (SIGIR 2007) on your own runs and judgments.

    In each of 50 trials, models learn from 10 queries how to combine the runs. Then 5 queries choose the best C of each
    model, and all other queries test the model. Over the trials, every query has each role equally often.

    The command writes an HTML report, and the tables as text, Markdown, LaTeX, CSV and JSON, to the --out folder. It
    also stores finished trials there: after Ctrl-C, the same command resumes and gets the same results.
    """
    from structsvm.protocols.experiment import Settings, run
    from structsvm.protocols.plan import count_trials

    arguments: dict[str, Any] = dict(numbers)
    if models:
        arguments["models"] = models
    if with_best != without_best:
        arguments["variants"] = ("with-best",) if with_best else ("without-best",)
    settings = Settings(**arguments)
    with progress_line(shown=not quiet) as say:
        say("reading runs and judgments")
        pool = _read(runs, qrels, grades, topics)
    _note_left_out(pool)
    try:
        with progress_bar("trials", shown=not quiet) as show:
            results = run(pool, settings, out, n_jobs=jobs, progress=show)
    except KeyboardInterrupt:
        raise Failure(
            f"interrupted: {count_trials(out)} of {counted(settings.trials, 'trial')} are in {out}; "
            "run the same command to resume"
        ) from None
    report_results(results, out)


def _note_left_out(pool: "Pool") -> None:
    """Print notes about topics that are left out, and a warning if runs and judgments do not seem to match."""
    import numpy as np

    if pool.left_out:
        topics = [f"{topic} ({reason})" for topic, reason in pool.left_out.items()]
        note(f"{counted(len(topics), 'topic')} left out: {first_of(topics)}")
    reasons = set(pool.left_out.values())
    if len(pool.left_out) > len(np.unique(pool.qid)) and {"no run has it", "it is not judged"} <= reasons:
        note(
            "more topics are left out than take part: do runs and judgments use the same topic ids? If judgments "
            "number topics by position, as Cranfield's do, pass --numbering position to structsvm retrieve"
        )
    retrieved, judged = np.count_nonzero(pool.y > 0), np.count_nonzero(pool.qrels.grades > 0)
    if 2 * retrieved < judged:
        note(
            f"no run has {judged - retrieved:,} of the {judged:,} documents judged relevant: do runs and judgments "
            "belong to the same collection and topics?"
        )


def _read(runs: Path, qrels: Path | str, grades: dict[int, int] | None, topics: tuple[str, ...] | None) -> "Pool":
    """Read and pool the runs; of a range, use the topics that exist."""
    from structsvm.data import load_qrels, load_runs, pool_runs

    judgments, read = load_qrels(qrels, grades), load_runs(runs)
    if topics is None:
        return pool_runs(read, judgments)
    every = set(judgments.qid.tolist()).union(*(run.qid.tolist() for run in read))
    selection = list(dict.fromkeys(expanded(topics, every)))
    if not selection:
        raise InputError(
            f"--topics {','.join(topics)} does not match any of the {len(every)} topics of {runs} and {qrels}: name "
            "other topics"
        )
    return pool_runs(read, judgments, topics=selection)


@command(
    "report",
    "Rewrite the report of an experiment.",
    examples=["structsvm report robust03-new"],
)
@click.argument("folder", type=FINISHED_EXPERIMENT)
def report_command(folder: Path) -> None:
    """Rewrite the report and the tables of an experiment, for example after an update of this package.

    FOLDER is the --out folder of "structsvm experiment". The command trains no models.
    """
    from structsvm.protocols import Results
    from structsvm.protocols.experiment.plan import RESULTS

    report_results(Results.load(folder / RESULTS), folder)


def report_results(results: "Results", folder: Path, *, title: str | None = None) -> None:
    """Write the report of an experiment; print the statistics, MAP over the pool for each variant, and the files."""
    from structsvm.protocols.experiment.plan import RESULTS
    from structsvm.protocols.experiment.report import write_report
    from structsvm.protocols.experiment.report.tables import data_table, legend, map_table

    with progress_line() as say:
        say("writing the report")
        written = write_report(results, folder, title=title)
    tables = [map_table(results, variant) for variant in results.variants]
    show_tables(data_table(results), *(evolve(table, notes=()) for table in tables))
    echo_wrapped(*tables[0].notes, *legend(results), "")
    if written.missing:
        note(f"the report has no plots: {written.missing}")
    names = ", ".join(path.name for path in written.tables)
    echo(f"results  {folder / RESULTS}")
    echo(f"tables   {names} in {folder}")
    if written.figures:
        echo(f"figures  {counted(len(written.figures), 'SVG file')} in {written.figures[0].parent}")
    echo(f"report   {written.page}")
