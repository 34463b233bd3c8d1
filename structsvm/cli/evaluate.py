"""``structsvm evaluate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from structsvm.cli.shared.collections import with_grades
from structsvm.cli.shared.command import Command
from structsvm.cli.shared.console import progress_line
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.evaluation_report import as_records, draw_precision, print_model, print_runs, report_csv
from structsvm.cli.shared.files import read_model_and_data
from structsvm.cli.shared.options import SEED, as_measures, names_of
from structsvm.cli.shared.paths import DATA, QRELS
from structsvm.cli.shared.results import (
    check_plot,
    shows_text,
    with_csv,
    with_json,
    with_plot,
    write_json,
    write_result,
)
from structsvm.exceptions import DataFormatError, InputError, ModelFileError
from structsvm.foundation.settings import repeated
from structsvm.foundation.storage.files import STANDARD_INPUT
from structsvm.registry import measures as registered

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from structsvm.metrics import Measure, RankedLists
    from structsvm.metrics.base import Empty


@click.command(
    cls=Command,
    name="evaluate",
    short_help="Measure a ranker on LETOR files, or TREC runs.",
    options_metavar="[OPTIONS]",
    examples=[
        "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10 --measure p@5",
        "structsvm evaluate --qrels qrels.txt run1.gz run2.gz --measure map --plot precision.svg",
        "structsvm evaluate --qrels qrels.txt new.gz --baseline old.gz --measure map --measure P_10",
    ],
)
@click.argument("files", type=DATA, nargs=-1, required=True, metavar="MODEL DATA... | --qrels QRELS RUN...")
@click.option(
    "--qrels", type=QRELS, help="Judgments in TREC's format: the files are then runs, not a model and its data."
)
@with_grades
@click.option(
    "--measure",
    "measures",
    metavar="NAME",
    callback=as_measures,
    shell_complete=names_of(registered),
    multiple=True,
    default=["map"],
    help="What is measured, such as map, ndcg@10 or p@5; may be given more than once.",
)
@click.option("--per-query", is_flag=True, help="Show the value of each query too.")
@click.option(
    "--baseline",
    type=DATA,
    metavar="RUN",
    help="A run that the others are compared with, topic by topic: differences, intervals and tests.",
)
@click.option(
    "--confidence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Level of the intervals of --baseline.  [default: 0.95]",
)
@click.option(
    "--resamples",
    type=click.IntRange(100),
    help="Resamples of the bootstrap and the randomisation test of --baseline.  [default: 10000]",
)
@click.option("--seed", type=SEED, help="Seed of both.  [default: 0]")
@with_csv
@with_json
@click.option(
    "--empty",
    type=click.Choice(["zero", "skip"]),
    help="What a query without relevant documents counts: zero (LETOR, trec_eval), or nothing, skip.  [default: zero]",
)
@with_plot(
    "Draw precision at 11 levels of recall to this file, a line for each run, such as precision.svg, .pdf or .png."
)
@with_columns()
def evaluate_command(
    files: tuple[Path, ...],
    qrels: Path | str | None,
    grades: dict[int, int] | None,
    measures: "tuple[Measure, ...]",
    per_query: bool,
    baseline: Path | None,
    confidence: float | None,
    resamples: int | None,
    seed: int | None,
    csv_path: Path | None,
    json_path: Path | None,
    empty: "Empty | None",
    plot_path: Path | None,
    columns: Columns,
) -> None:
    """Measure how well a model ranks LETOR files, which are read as one data set; or how well TREC runs do.

    One of DATA, QRELS and RUN may be "-", standard input. DATA may be tables, as for "structsvm train".

    "structsvm list" shows the names of measures; those of trec_eval (P_5, ndcg_cut_10, recip_rank) and of ir_measures
    (AP, nDCG@10, RBP(p=0.8)) are accepted, too. Documents of equal score keep the order of a LETOR file. Runs are
    measured as by trec_eval: documents of equal score (in float32) are ordered by id, descending; relevant documents
    that a run lacks count; topics without judgments do not. NDCG of trec_eval is "ndcg(gain=linear)".

    Precision at a level of recall is the best at any rank of at least that recall, as trec_eval's iprec_at_recall: a
    mean over the queries that have relevant documents.
    """
    from attrs import evolve

    asked = {str(measure): evolve(measure, empty=empty) if empty else measure for measure in measures}
    tests = {
        name: value
        for name, value in {"confidence_level": confidence, "n_resamples": resamples, "random_state": seed}.items()
        if value is not None
    }
    if baseline is None and tests:
        raise click.UsageError("--confidence, --resamples and --seed need --baseline: name a run to compare with")
    if baseline is not None and qrels is None:
        raise click.UsageError("--baseline is a run, which --qrels measures: give both")
    if qrels is not None and columns != Columns():
        raise click.UsageError("columns and --groups are of the DATA of a model, not of runs: leave them out")
    if qrels is None and grades is not None:
        raise click.UsageError("--grades says what the grades of --qrels mean: give both")
    text = shows_text(csv_path, json_path)
    check_plot(plot_path)
    if qrels is not None:
        try:
            report, lists = _measure_runs(
                qrels, files, asked, grades, baseline, tests, per_query=per_query, keep=plot_path is not None
            )
        except DataFormatError as error:
            if error.path in (*files, baseline) and error.path.is_file() and is_zipfile(error.path):
                raise InputError(f"{error}. With --qrels the files are runs, not a model and its data") from error
            raise
    elif len(files) < 2:
        raise click.UsageError("give a model and the LETOR files to measure it on, or --qrels and TREC runs")
    elif files[0] == STANDARD_INPUT:
        raise click.UsageError("a model cannot come from standard input: name its file")
    else:
        report, lists = _measure_model(files[0], files[1:], asked, columns, per_query=per_query)
    if csv_path is not None:
        write_result(report_csv(report), csv_path)
    compared = {"comparison": as_records(report["comparison"])} if "comparison" in report else {}
    write_json({**report, **compared}, json_path)
    if text and qrels is not None:
        print_runs(report)
    elif text:
        print_model(report)
    if plot_path is not None:
        draw_precision(lists, plot_path)


def _measure_model(
    model: Path, data: "Sequence[Path]", measures: "Mapping[str, Measure]", columns: Columns, *, per_query: bool
) -> "tuple[dict[str, Any], dict[str, RankedLists]]":
    """Measure a model; return the report, and its ranking by name."""
    from structsvm.evaluation.runs import figures
    from structsvm.metrics import rank_lists

    try:
        ranker, read = read_model_and_data(model, data, columns=columns)
    except ModelFileError as error:
        if not model.is_file() or is_zipfile(model):
            raise
        raise InputError(f"{error}. To measure TREC runs, give their judgments with --qrels") from error
    lists = rank_lists(ranker.predict(read.X, qid=read.qid), read.y, read.qid)
    report = {
        "model": str(model),
        "data": [str(path) for path in data],
        "queries": len(lists.ids),
        "documents": len(read.y),
        **figures(lists, measures, per_query=per_query),
    }
    return report, {str(model): lists}


def _measure_runs(
    qrels: Path | str,
    paths: "Sequence[Path]",
    measures: "Mapping[str, Measure]",
    grades: dict[int, int] | None,
    baseline: Path | None,
    tests: "Mapping[str, Any]",
    *,
    per_query: bool,
    keep: bool,
) -> "tuple[dict[str, Any], dict[str, RankedLists]]":
    """Measure runs as trec_eval does; return the report, and rankings by run if ``keep`` or a baseline needs them."""
    from structsvm.data import load_qrels, load_run
    from structsvm.evaluation.baseline import compare_lists
    from structsvm.evaluation.runs import measure_run

    if baseline is not None:
        paths = [*([] if baseline in paths else [baseline]), *paths]
        twice = repeated(paths)
        if twice is not None:
            raise click.UsageError(f"{twice} is given twice: leave one out")
    judgments = load_qrels(qrels, grades)
    runs: list[dict[str, Any]] = []
    rankings: list[RankedLists] = []
    with progress_line() as show:
        for path in paths:
            show(f"measuring {path}")
            run = load_run(path)
            try:
                measured, ranked = measure_run(run, judgments, measures, per_query=per_query)
            except InputError as error:
                raise InputError(f"{path} by {qrels}: {error}") from error
            runs.append({"run": run.name, "file": str(path), **measured})
            if keep or baseline is not None:
                rankings.append(ranked)
        report: dict[str, Any] = {"qrels": str(qrels), "runs": runs}
        alike = [run["run"] for run in runs]
        names = [f"{run['run']} ({run['file']})" if alike.count(run["run"]) > 1 else run["run"] for run in runs]
        lists = dict(zip(names, rankings, strict=bool(rankings)))
        if baseline is not None:
            first = names[paths.index(baseline)]
            means = [measure for measure in measures.values() if measure.summary == "mean"] or measures.values()
            report["comparison"] = compare_lists(
                lists, first, means, **tests, callback=lambda name: show(f"comparing {name} with {first}")
            )
    return report, lists
