"""``structsvm predict``."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from structsvm.cli.shared.command import command
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.files import note_drift, read_model_and_data, write_text
from structsvm.cli.shared.options import needing
from structsvm.cli.shared.paths import DATA, INPUT, STREAMED
from structsvm.exceptions import InputError

if TYPE_CHECKING:
    from structsvm.foundation.types import Vector

_LINES_AT_ONCE = 10_000


@command(
    "predict",
    "Score the documents of a data file.",
    examples=[
        "structsvm predict m.npz test.txt --output scores.txt",
        "structsvm predict m.npz test.txt --format trec --tag svm-map --output run.txt",
        "structsvm predict calibrated.npz test.txt --probabilities",
    ],
)
@click.argument("model", type=INPUT)
@click.argument("data", type=DATA)
@click.option(
    "--format",
    "form",
    type=click.Choice(["scores", "trec"]),
    default="scores",
    help="Write a score on each line, or a run in TREC's format. For a run, each line of DATA must name its document "
    "in a comment, '#docid = ...'.",
)
@click.option(
    "--tag",
    default="structsvm",
    **needing("--format trec", lambda values: values["form"] == "trec"),
    help="Name of the run, its last column.",
)
@click.option(
    "--probabilities",
    is_flag=True,
    help="Write probabilities of relevance instead of scores. The model must come from structsvm calibrate.",
)
@click.option("--check", is_flag=True, help="Compare the features with the training data, and report drift.")
@with_columns()
@click.option("-o", "--output", type=STREAMED, help="File to write the scores to.  [default: standard output]")
def predict_command(
    model: Path,
    data: Path,
    form: str,
    tag: str,
    probabilities: bool,
    check: bool,
    columns: Columns,
    output: Path | None,
) -> None:
    """Score the documents of a file, and write a score on each line, in the order of DATA.

    Within a query, documents with higher scores rank first. DATA may be "-" for standard input, or a table as for
    "structsvm train". It needs no labels, and query ids only for --format trec.

    An output file is written whole or not at all, as gzip if its name ends in .gz.
    """
    from structsvm.data import Run
    from structsvm.data.trec import run_lines

    run = form == "trec"
    if run and probabilities:
        raise click.UsageError(
            "--probabilities excludes --format trec, because documents of unequal scores may have equal probabilities. "
            "Leave one out"
        )
    scorer, rows = read_model_and_data(model, [data], doc_ids=run, columns=columns, labels=False, queries=run or check)
    if probabilities and scorer.calibration is None:
        raise InputError(
            f"{model} has scores but no probabilities: add a curve with structsvm calibrate, from judged queries that "
            "it was not trained on"
        )
    ids = rows.doc_ids if run else None
    if run and ids is None:
        raise InputError(f"{data} has no column of document ids, which --format trec needs: name it with --docid")
    if check:
        note_drift(scorer, rows, always=True)
    scores = scorer.predict_proba(rows.X, qid=rows.qid)[:, 1] if probabilities else scorer.predict(rows.X, qid=rows.qid)
    lines = _lines(scores) if ids is None else run_lines(Run.from_scores(tag, rows.qid, ids, scores))
    write_text(lines, output)


def _lines(scores: "Vector") -> Iterator[str]:
    for start in range(0, len(scores), _LINES_AT_ONCE):
        yield "".join(f"{score!r}\n" for score in scores[start : start + _LINES_AT_ONCE].tolist())
