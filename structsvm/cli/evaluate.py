"""``structsvm evaluate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from structsvm.cli.shared.collections import with_grades
from structsvm.cli.shared.command import command
from structsvm.cli.shared.console import echo, echo_wrapped, progress_line, show_tables
from structsvm.cli.shared.data import Columns, with_columns
from structsvm.cli.shared.files import note_drift, read_model_and_data
from structsvm.cli.shared.options import SEED, Whole, confidence_option, measure_option, needing
from structsvm.cli.shared.paths import DATA, QRELS
from structsvm.cli.shared.results import Outputs, with_outputs, write_plot
from structsvm.exceptions import DataFormatError, InputError, ModelFileError, counted
from structsvm.foundation.settings import repeated
from structsvm.foundation.storage.files import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from structsvm.metrics import Measure, RankedLists
    from structsvm.metrics.base import Empty
    from structsvm.metrics.ranking import Ties


@command(
    "evaluate",
    "Measure rankers on data files, or TREC runs.",
    options_metavar="[OPTIONS]",
    examples=[
        "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10 --measure p@5",
        "structsvm evaluate new.npz test.txt --baseline old.npz",
        "structsvm evaluate --qrels qrels.txt run1.gz run2.gz --measure map --plot precision.svg",
        "structsvm evaluate --qrels qrels.txt new.gz --baseline old.gz --measure map --measure P_10",
    ],
)
@click.argument("files", type=DATA, nargs=-1, required=True, metavar="MODEL... DATA... | --qrels QRELS RUN...")
@click.option("--qrels", type=QRELS, help="Judgments in TREC's format. With this option, the files are TREC runs.")
@with_grades
@measure_option(
    "measures",
    multiple=True,
    default=["map"],
    help="Measure, such as map, ndcg@10 or p@5; repeat the option or use commas for several.",
)
@click.option("--per-query", is_flag=True, help="Also show the value of each query.")
@click.option(
    "--baseline",
    type=DATA,
    metavar="MODEL|RUN",
    help="Model or run to compare the other files with, query by query: differences, intervals and tests.",
)
@click.option(
    "--interval",
    type=click.Choice(["t", "bootstrap", "betting"]),
    default="t",
    help="Interval of each mean: Student's t, bootstrap (BCa), or betting, which is wider and guaranteed for values "
    "from 0 to 1. Intervals of differences are Student's.",
)
@confidence_option("Level of all intervals.")
@click.option(
    "--resamples",
    type=Whole(100),
    default=10_000,
    **needing(
        "--baseline or --interval bootstrap", lambda values: values["baseline"] or values["interval"] == "bootstrap"
    ),
    help="Resamples of the bootstrap, and of the randomization test of --baseline.",
)
@click.option(
    "--seed",
    type=SEED,
    default=0,
    **needing(
        "--baseline, --interval bootstrap or --interval betting",
        lambda values: values["baseline"] or values["interval"] != "t",
    ),
    help="Seed of the resamples, and of the order of bets.",
)
@click.option(
    "--empty",
    type=click.Choice(["zero", "skip"]),
    help="Queries without relevant documents: count them as zero, as LETOR and trec_eval do, or skip them.  "
    "[default: zero]",
)
@click.option(
    "--ties",
    type=click.Choice(["mean", "trec", "input"]),
    help="Documents with equal scores: the mean over all their orders; ordered by id, descending, as by trec_eval; or "
    "in the order of the file.  [default: mean for models, trec for runs]",
)
@click.option(
    "--all-topics",
    is_flag=True,
    **needing("--qrels"),
    help="Count judged topics that a run lacks, as trec_eval -c does; most measures are 0 for them.",
)
@with_outputs(
    "Plot precision at 11 levels of recall to this file, such as precision.svg, .pdf or .png, with a line for each run."
)
@with_columns()
def evaluate_command(
    files: tuple[Path, ...],
    qrels: Path | str | None,
    grades: dict[int, int] | None,
    measures: "tuple[Measure, ...]",
    per_query: bool,
    baseline: Path | None,
    interval: str,
    confidence: float,
    resamples: int,
    seed: int,
    empty: "Empty | None",
    ties: "Ties | None",
    all_topics: bool,
    outputs: Outputs,
    columns: Columns,
) -> None:
    """Measure how well models rank the queries of data files, or how good TREC runs are.

    With models, the command reads all DATA as one data set, which may be tables, as for "structsvm train". One of DATA,
    QRELS and RUN may be "-", standard input.

    Each mean has a confidence interval of the mean over the population of queries. The interval is valid if the queries
    are a random sample of the population, and if no model was trained or chosen on them.

    "structsvm list" shows the names of measures. The names of trec_eval (P_5, ndcg_cut_10, recip_rank) and of
    ir_measures (AP, nDCG@10, RBP(p=0.8)) work, too. NDCG of trec_eval is "ndcg(gain=linear)".

    Measures of models are means over all orders of documents with equal scores. Runs are measured as by trec_eval:
    documents with equal scores (in float32) are ordered by id, descending; relevant documents that a run lacks count;
    topics without judgments do not count. A note shows the range of each measure over all orders.

    Precision at a level of recall is the best precision at any rank that has at least this recall, as in trec_eval's
    iprec_at_recall. It is a mean over the queries that have relevant documents.
    """
    from attrs import evolve

    from structsvm.evaluation.baseline import compare_lists
    from structsvm.evaluation.report import figure_table, notes_of, query_tables, to_csv, to_json

    if qrels is not None and columns != Columns():
        raise click.UsageError("columns and --groups apply to the DATA of a model, not to runs: leave them out")
    if qrels is not None and ties == "input":
        raise click.UsageError("--ties input applies to models: runs are read in trec_eval's order")
    by_name = {str(measure): evolve(measure, empty=empty) if empty else measure for measure in measures}
    tests: dict[str, Any] = {"confidence_level": confidence, "n_resamples": resamples, "random_state": seed}
    rule: Ties = ties or ("mean" if qrels is None else "trec")
    settings = {"measures": by_name, "per_query": per_query, "method": interval, **tests}
    record = {"interval": interval, "confidence": confidence, "resamples": resamples, "seed": seed}
    record |= {"ties": rule, "all_topics": all_topics}
    systems: list[dict[str, Any]]
    if qrels is not None:
        keep = outputs.plot is not None or baseline is not None
        rules = {"ties": rule, "all_topics": all_topics}
        try:
            systems, lists = _measure_runs(qrels, files, grades, baseline, settings | rules, keep=keep)
        except DataFormatError as error:
            if error.path in (*files, baseline) and error.path.is_file() and is_zipfile(error.path):
                raise InputError(f"{error}. With --qrels the files are runs, not a model and its data") from error
            raise
        report: dict[str, Any] = {"qrels": str(qrels), **record, "runs": systems}
    else:
        data = [path for path in files[1:] if not (path.is_file() and is_zipfile(path))]
        models = _with_baseline([path for path in files if path not in data], baseline)
        systems, lists = _measure_models(models, data, columns, rule, settings)
        report = {"data": [str(path) for path in data], **record, "models": systems}
    if baseline is not None:
        paths = [system["model" if qrels is None else "file"] for system in systems]
        first = list(lists)[paths.index(str(baseline))]
        means = [measure for measure in by_name.values() if measure.summary == "mean"] or by_name.values()
        with progress_line() as show:
            report["comparison"] = compare_lists(
                lists,
                first,
                means,
                **tests,
                callback=lambda name: show(f"comparing {name} with {first}"),
                of_models=qrels is None,
            )
    outputs.write(to_json(report), lambda: to_csv(report))
    if outputs.text:
        show_tables(*query_tables(report))
        if qrels is None:
            size = report["models"][0]
            echo(f"{counted(size['queries'], 'query', 'queries')}, {counted(size['documents'], 'document')}", "")
        show_tables(figure_table(report))
        echo_wrapped(*notes_of(report))
        if baseline is not None:
            echo("")
            show_tables(report["comparison"].table())
    if outputs.plot is not None:
        _draw(lists, outputs.plot)


def _draw(lists: "Mapping[str, RankedLists]", path: Path) -> None:
    """Plot precision at levels of recall."""
    from structsvm.plots import InterpolatedPrecisionDisplay
    from structsvm.plots.interpolated_precision import MOST_INSIDE
    from structsvm.plots.style import as_label

    def draw(axes: "Axes") -> None:
        InterpolatedPrecisionDisplay.from_lists(lists, ax=axes)
        # Several systems have a legend instead of a title.
        if len(lists) == 1:
            axes.set_title(as_label(next(iter(lists))))

    width, height = (6.0, 3.8) if len(lists) <= MOST_INSIDE else (8.0, max(3.8, 0.9 + 0.19 * len(lists)))
    write_plot(path, width, height, draw)


def _measure_models(
    models: "Sequence[Path]", data: "Sequence[Path]", columns: Columns, ties: "Ties", settings: "Mapping[str, Any]"
) -> "tuple[list[dict[str, Any]], dict[str, RankedLists]]":
    """Measure models on the same data; return the figures of each, and the rankings by model."""
    import numpy as np

    from structsvm.evaluation.runs import figures
    from structsvm.metrics import rank_lists

    if STANDARD_INPUT in models:
        raise click.UsageError("a model cannot come from standard input: name its file")
    if not data:
        raise click.UsageError("give a model and the data files to measure it on, or --qrels and TREC runs")
    if STANDARD_INPUT in data and len(models) > 1:
        raise click.UsageError("each model reads the data, which standard input allows only once: name a file")
    by_id = ties == "trec"
    systems: list[dict[str, Any]] = []
    lists: dict[str, RankedLists] = {}
    for model in models:
        try:
            ranker, test = read_model_and_data(model, data, columns=columns, doc_ids=by_id)
        except ModelFileError as error:
            if not model.is_file() or is_zipfile(model):
                raise
            raise InputError(f"{error}. To measure TREC runs, give their judgments with --qrels") from error
        note_drift(ranker, test)
        if by_id and test.doc_ids is None:
            raise InputError(
                "--ties trec orders documents by id, and the data have no ids: name their column by --docid"
            )
        scores = ranker.predict(test.X, qid=test.qid)
        if by_id:
            # Runs and trec_eval round scores to float32.
            scores = scores.astype(np.float32).astype(np.float64)
        ids = test.doc_ids if by_id else None
        ranked = lists[str(model)] = rank_lists(scores, test.y, test.qid, doc_ids=ids, ties=ties)
        key = {"model": str(model), "queries": len(ranked.ids), "documents": len(test.y)}
        systems.append({**key, **figures(ranked, **settings)})
    return systems, lists


def _with_baseline(paths: "Sequence[Path]", baseline: Path | None) -> "list[Path]":
    """Return the files with the baseline among them; reject a file that is given twice."""
    paths = [*([] if baseline is None or baseline in paths else [baseline]), *paths]
    twice = repeated(paths)
    if twice is not None:
        raise click.UsageError(f"{twice} is given twice: leave one out")
    return paths


def _measure_runs(
    qrels: Path | str,
    paths: "Sequence[Path]",
    grades: dict[int, int] | None,
    baseline: Path | None,
    settings: "Mapping[str, Any]",
    *,
    keep: bool,
) -> "tuple[list[dict[str, Any]], dict[str, RankedLists]]":
    """Measure runs as trec_eval does; return the figures of each, and to ``keep`` them the rankings by run."""
    from structsvm.data import load_qrels, load_run
    from structsvm.evaluation.runs import measure_run

    if baseline is not None:
        paths = _with_baseline(paths, baseline)
    judgments = load_qrels(qrels, grades)
    runs: list[dict[str, Any]] = []
    rankings: list[RankedLists] = []
    with progress_line() as show:
        for path in paths:
            show(f"measuring {path}")
            run = load_run(path)
            try:
                measured, ranked = measure_run(run, judgments, **settings)
            except InputError as error:
                raise InputError(f"{path} by {qrels}: {error}") from error
            runs.append({"run": run.name, "file": str(path), **measured})
            if keep:
                rankings.append(ranked)
    alike = [run["run"] for run in runs]
    names = [f"{run['run']} ({run['file']})" if alike.count(run["run"]) > 1 else run["run"] for run in runs]
    return runs, dict(zip(names, rankings, strict=keep))
