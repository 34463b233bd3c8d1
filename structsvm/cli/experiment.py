"""``structsvm experiment``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from structsvm.cli.collections import expanded, with_grades, with_topics
from structsvm.cli.console import counted, note, note_left_out, progress_bar, progress_line
from structsvm.cli.failures import Failure
from structsvm.cli.options import several_or_none
from structsvm.cli.paths import EXPERIMENT, QRELS, RUN_FOLDER, Command
from structsvm.cli.report import show_files, show_results, write
from structsvm.cli.texts import example
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from structsvm.data import Pool


@click.command(
    cls=Command,
    name="experiment",
    short_help="Compare SVMs on the runs of retrieval systems, as in the paper on SVM-map.",
    epilog=example("structsvm experiment --runs runs/ --qrels qrels.txt --topics 601-650 --out robust03-new"),
)
@click.option(
    "--runs", type=RUN_FOLDER, required=True, help="Folder of TREC runs, plain or compressed: the base functions."
)
@click.option("--qrels", type=QRELS, required=True, help="Judgments in TREC's format.")
@with_grades
@click.option("--out", type=EXPERIMENT, required=True, help="Folder for the results; each experiment needs its own.")
@with_topics
@click.option("--trials", type=click.IntRange(min=1), default=50, show_default=True, help="Number of trials.")
@click.option(
    "--train", type=click.IntRange(min=1), default=10, show_default=True, help="Training queries in each trial."
)
@click.option(
    "--validation",
    type=click.IntRange(min=1),
    default=5,
    show_default=True,
    help="Validation queries in each trial, which pick C; all others are for the test.",
)
@click.option(
    "--bins", type=click.IntRange(min=1), default=50, show_default=True, help="Thresholds for each base function."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of the random trials.")
@click.option("--jobs", type=click.IntRange(min=1), help="Processes.  [default: one a processor]")
@click.option(
    "--models",
    metavar="NAMES",
    multiple=True,
    callback=several_or_none,
    help="Models, such as svm-map,rankboost; the others are compared with the first.  [default: the paper's]",
)
@click.option("--with-best", is_flag=True, help="Run only the variant in which models use all base functions.")
@click.option(
    "--without-best", is_flag=True, help="Run only the variant in which models do not use the best base function."
)
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

    In each of 50 trials, models learn from 10 queries how to combine the runs, 5 queries pick the best C of each model,
    and all other queries test it. Over the trials, every query has each role equally often.

    An HTML report is written to the output folder, with the tables as text, Markdown, LaTeX, CSV and JSON.

    Finished trials are saved there, too: after Ctrl-C, the same command continues, and gets the same results.
    """
    from structsvm.protocols.experiment import Settings, count_trials, run

    chosen: dict[str, Any] = dict(numbers)
    if models:
        chosen["models"] = models
    if with_best != without_best:
        chosen["variants"] = ("with-best",) if with_best else ("without-best",)
    settings = Settings(**chosen)
    with progress_line(shown=not quiet) as say:
        say("reading runs and judgments")
        pool = _read(runs, qrels, grades, topics)
    note_left_out(pool.left_out)
    _note_strange(pool)
    try:
        with progress_bar("trials", shown=not quiet) as show:
            results = run(pool, settings, out, jobs=jobs, progress=show)
    except KeyboardInterrupt:
        raise Failure(
            f"interrupted: {count_trials(out)} of {counted(settings.trials, 'trial')} are in {out}; "
            "the same command goes on from there"
        ) from None
    written = write(results, out)
    show_results(results)
    show_files(written)


def _note_strange(pool: "Pool") -> None:
    """Say where runs and judgments look as if they were not of the same topics or the same documents."""
    import numpy as np

    reasons = set(pool.left_out.values())
    if len(pool.left_out) > len(np.unique(pool.qid)) and {"no run has it", "it is not judged"} <= reasons:
        note(
            "more topics are left out than take part: do runs and judgments number them alike? Where judgments number "
            "topics by their position, as Cranfield's do, structsvm retrieve has --numbering position"
        )
    found, judged = np.count_nonzero(pool.y > 0), np.count_nonzero(pool.qrels.grades > 0)
    if 2 * found < judged:
        note(
            f"no run has {judged - found:,} of the {judged:,} documents judged relevant: are runs and judgments of the "
            "same collection and topics?"
        )


def _read(runs: Path, qrels: Path | str, grades: dict[int, int] | None, topics: tuple[str, ...] | None) -> "Pool":
    """Read what the experiment is about; of a range, the topics that exist."""
    from structsvm.data import load_qrels, load_runs, pool_runs

    judgments, read = load_qrels(qrels, grades), load_runs(runs)
    if topics is None:
        return pool_runs(read, judgments)
    known = set(judgments.qid.tolist()).union(*(each.qid.tolist() for each in read))
    asked = list(dict.fromkeys(expanded(topics, known)))
    if not asked:
        raise InputError(f"--topics {','.join(topics)} names none of the {len(known)} topics of {runs} and {qrels}")
    return pool_runs(read, judgments, topics=asked)
