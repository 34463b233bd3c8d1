"""``structsvm evaluate``."""

import shlex
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import is_zipfile

import click

from structsvm.cli.collections import with_grades
from structsvm.cli.console import counted, echo, echo_wrapped, print_table, progress_line, show_tables
from structsvm.cli.data import Columns, with_columns
from structsvm.cli.files import read_model_and_data
from structsvm.cli.options import as_measures, names_of
from structsvm.cli.paths import DATA, QRELS, Command
from structsvm.cli.plots import check_plot, with_plot, write_plot
from structsvm.cli.results import shows_text, with_csv, with_json, write_json, write_result
from structsvm.cli.texts import example
from structsvm.exceptions import DataFormatError, InputError, ModelFileError, StructSVMError
from structsvm.registry import measures as registered
from structsvm.storage.files import STANDARD_INPUT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from matplotlib.axes import Axes

    from structsvm.data import Qrels
    from structsvm.evaluation import RunComparison
    from structsvm.metrics import Measure, RankedLists
    from structsvm.metrics.base import Empty

_EMPTY = {
    "zero": "counted as 0, as LETOR's tools and trec_eval do; --empty skip leaves them out",
    "skip": "left out; --empty zero counts them as 0, as LETOR's tools and trec_eval do",
}


_LEFT_OUT = {
    "not_judged": "not judged, and left out, as by trec_eval.",
    "not_in_run": "not in the run, and left out, as by trec_eval without -c.",
}


@click.command(
    cls=Command,
    name="evaluate",
    short_help="Measure a ranker on LETOR files, or TREC runs.",
    options_metavar="[OPTIONS]",
    epilog=example(
        "structsvm evaluate m.npz test.txt --measure map --measure ndcg@10 --measure p@5",
        "structsvm evaluate --qrels qrels.txt run1.gz run2.gz --measure map --plot precision.svg",
        "structsvm evaluate --qrels qrels.txt new.gz --baseline old.gz --measure map --measure P_10",
    ),
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
    show_default=True,
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
@click.option("--seed", type=click.IntRange(0), help="Seed of both.  [default: 0]")
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

    The names of measures are shown by "structsvm list"; those of trec_eval (P_5, ndcg_cut_10, recip_rank) and of
    ir_measures (AP, nDCG@10, RBP(p=0.8)) are read too. Documents of equal score keep the order of a LETOR file.
    Runs are measured as by trec_eval: documents of equal score (in float32) by id, descending; relevant documents
    that a run lacks count; topics without judgments do not. Its NDCG is "ndcg(gain=linear)".

    Precision at a level of recall is the best at any rank of at least that recall, a mean over the queries that have
    relevant documents: trec_eval's iprec_at_recall.
    """
    from attrs import evolve

    asked = {str(measure): evolve(measure, empty=empty) if empty else measure for measure in measures}
    tests = {
        name: value
        for name, value in {"confidence": confidence, "resamples": resamples, "seed": seed}.items()
        if value is not None
    }
    if baseline is None and tests:
        raise click.UsageError(f"--{next(iter(tests))} is about the comparison with --baseline: give both")
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
        write_result(_as_csv(report), csv_path)
    compared = {"comparison": _as_records(report["comparison"])} if "comparison" in report else {}
    write_json({**report, **compared}, json_path)
    if text and qrels is not None:
        _print_runs(report)
    elif text:
        _print_model(report)
    if plot_path is not None:
        _draw(lists, plot_path)


def _measure_model(
    model: Path, data: "Sequence[Path]", measures: "Mapping[str, Measure]", columns: Columns, *, per_query: bool
) -> "tuple[dict[str, Any], dict[str, RankedLists]]":
    """Measure a model, and return its ranking by its name beside the report."""
    from structsvm.metrics import rank_lists

    try:
        ranker, read = read_model_and_data(model, data, columns=columns)
    except ModelFileError as error:
        if not model.is_file() or not _holds_judgments(model):
            raise
        command = shlex.join(["structsvm", "evaluate", "--qrels", *map(str, (model, *data))])
        raise InputError(f"{error}. It looks like judgments, which --qrels takes: {command}") from error
    except DataFormatError as error:
        if error.path not in data or not _holds_model(error.path):
            raise
        raise InputError(
            f"{error.path} is a model, as is {model}: one is measured at a time, and the files behind it are its data"
        ) from error
    lists = rank_lists(ranker.predict(read.X, qid=read.qid), read.y, read.qid)
    report = {
        "model": str(model),
        "data": [str(path) for path in data],
        "queries": len(lists.ids),
        "documents": len(read.y),
        **_figures(measures, lists, per_query=per_query),
    }
    return report, {str(model): lists}


def _holds_judgments(path: Path) -> bool:
    from structsvm.data import load_qrels

    with suppress(StructSVMError):
        load_qrels(path)
        return True
    return False


def _holds_model(path: Path) -> bool:
    from structsvm.serving.reading import kind_in

    with suppress(ModelFileError):
        kind_in(path)
        return True
    return False


def _print_model(report: dict[str, Any]) -> None:
    measures, queries = report["measures"], report["queries"]
    if "per_query" in report:
        _print_queries(report["per_query"])
    echo(f"{counted(queries, 'query', 'queries')}, {counted(report['documents'], 'document')}", "")
    print_table(
        ["measure", "mean", "queries", "without a value"],
        ([name, _figure(of), str(queries), str(of["undefined"])] for name, of in measures.items()),
        numbers_from=1,
    )
    _print_notes(measures)
    _print_undefined(measures.values())


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
    """Measure runs by the conventions of trec_eval, and compare them with a baseline.

    Their rankings by name, as far as they are kept, are returned beside the report.

    Parameters
    ----------
    qrels : file of the judgments.
    paths : files of the runs.
    measures : what is measured, by the name it is reported under.
    grades : what the grades of the judgments mean; None: as they stand.
    baseline : file of the run that the others are compared with, one of `paths` or not; None: none are compared.
    tests : settings of the comparison.
    per_query : whether to report the value of each topic too.
    keep : whether the rankings are asked for; for a comparison they are kept in any case.

    Raises
    ------
    InputError : a file cannot be read, or no topic of a run is judged; the runs cannot be compared.
    """
    from structsvm.data import load_qrels

    paths = _with_baseline(paths, baseline)
    judgments = load_qrels(qrels, grades)
    judged = dict.fromkeys(judgments.index.topics)
    runs: list[dict[str, Any]] = []
    rankings: list[RankedLists] = []
    with progress_line() as show:
        for path in paths:
            show(f"measuring {path}")
            measured, ranked = _measure_run(path, qrels, judgments, judged, measures, per_query=per_query)
            runs.append(measured)
            if keep or baseline is not None:
                rankings.append(ranked)
        report: dict[str, Any] = {"qrels": str(qrels), "runs": runs}
        names = _names(runs)
        lists = dict(zip(names, rankings, strict=bool(rankings)))
        if baseline is not None:
            report["comparison"] = _compared(lists, names[paths.index(baseline)], measures, tests, show)
    return report, lists


def _with_baseline(paths: "Sequence[Path]", baseline: Path | None) -> list[Path]:
    """Return the files of the runs, that of the baseline first if it is not among them.

    Raises
    ------
    click.UsageError : a file is there twice, or there is none to compare.
    """
    if baseline is None:
        return list(paths)
    every = [*([] if baseline in paths else [baseline]), *paths]
    twice = next((path for place, path in enumerate(every) if path in every[:place]), None)
    if twice is not None:
        raise click.UsageError(f"{twice} is given twice: leave one out")
    if len(every) < 2:
        raise click.UsageError(f"there is nothing to compare with the baseline {baseline}: give another run")
    return every


def _names(runs: "Sequence[Mapping[str, Any]]") -> list[str]:
    """Return the names of runs, with their files where two have the same."""
    names = [run["run"] for run in runs]
    return [f"{name} ({run['file']})" if names.count(name) > 1 else name for name, run in zip(names, runs, strict=True)]


def _compared(
    lists: "Mapping[str, RankedLists]",
    baseline: str,
    measures: "Mapping[str, Measure]",
    tests: "Mapping[str, Any]",
    show: "Callable[[str], None]",
) -> "RunComparison":
    from structsvm.evaluation import compare_lists

    means = [measure for measure in measures.values() if measure.summary == "mean"]
    if not means:
        raise click.UsageError(f"{', '.join(measures)}: differences are tested of means; give another --measure")
    return compare_lists(
        lists, baseline, means, **tests, callback=lambda name: show(f"comparing {name} with {baseline}")
    )


def _measure_run(
    path: Path,
    qrels: Path | str,
    judgments: "Qrels",
    judged: "Mapping[str, None]",
    measures: "Mapping[str, Measure]",
    *,
    per_query: bool,
) -> "tuple[dict[str, Any], RankedLists]":
    import numpy as np

    from structsvm.data import load_run
    from structsvm.data.pairs import number_topics
    from structsvm.evaluation.runs import rank_run

    run = load_run(path)
    topics = dict.fromkeys(number_topics(run.qid)[0])
    if topics.keys().isdisjoint(judged):
        first, first_judged = next(iter(topics)), next(iter(judged))
        raise InputError(
            f"no topic of {path} is judged in {qrels}: the first topics are {first!r} and {first_judged!r}"
        )
    lists = rank_run(run, judgments)
    measured = {
        "run": run.name,
        "file": str(path),
        "topics": len(lists.ids),
        "documents": len(lists.query),
        "relevant": int(np.sum(lists.judged > 0)),
        "relevant_retrieved": int(np.sum(lists.label > 0)),
        "not_judged": [topic for topic in topics if topic not in judged],
        "not_in_run": [topic for topic in judged if topic not in topics],
        **_figures(measures, lists, per_query=per_query),
    }
    return measured, lists


def _print_runs(report: dict[str, Any]) -> None:
    """Print what `_measure_runs` returns."""
    runs = report["runs"]
    for run in runs:
        if "per_query" in run:
            _print_queries(run["per_query"], title=f"{run['run']} ({run['file']})")
    print_table(
        ["run", "file", "topics", "retrieved", "relevant", "relevant retrieved", *runs[0]["measures"]],
        (
            [
                run["run"],
                run["file"],
                *(str(run[count]) for count in ("topics", "documents", "relevant", "relevant_retrieved")),
                *(_figure(of) for of in run["measures"].values()),
            ]
            for run in runs
        ),
        numbers_from=2,
    )
    _print_notes(runs[0]["measures"])
    _print_undefined(of for run in runs for of in run["measures"].values())
    for which, why in _LEFT_OUT.items():
        alike: dict[tuple[str, ...], list[str]] = {}
        for run in runs:
            alike.setdefault(tuple(run[which]), []).append(run["run"])
        echo_wrapped(*(f"{', '.join(names)}: {_topics(topics)} {why}" for topics, names in alike.items() if topics))
    if "comparison" in report:
        echo("")
        show_tables(report["comparison"].table())


def _topics(topics: "Sequence[str]") -> str:
    names = ", ".join(topics[:3]) + (", ..." if len(topics) > 3 else "")
    return f"{counted(len(topics), 'topic')} ({names}) {'is' if len(topics) == 1 else 'are'}"


def _figures(measures: "Mapping[str, Measure]", lists: "RankedLists", *, per_query: bool) -> dict[str, Any]:
    figures: dict[str, Any] = {"measures": {name: _measured(measure, lists) for name, measure in measures.items()}}
    if per_query:
        figures["per_query"] = {name: _of_each_query(measure, lists) for name, measure in measures.items()}
    return figures


def _measured(measure: "Measure", lists: "RankedLists") -> dict[str, Any]:
    """Return the mean, the number of queries for which the measure is undefined, and what these count.

    Raises
    ------
    InputError : the measure is undefined for every query, and these are left out.
    """
    import numpy as np

    values = measure.of(lists).values
    if not len(values):
        raise InputError(f"{measure} has no mean: it is undefined for every query")
    undefined = int(np.isnan(measure.values(lists)).sum())
    return {
        "mean": measure.over_queries(values),
        "summary": measure.summary,
        "undefined": undefined,
        "empty": measure.empty,
        "note": measure.note,
    }


def _of_each_query(measure: "Measure", lists: "RankedLists") -> dict[str, float]:
    """Return the value of each query, by its id as text."""
    ids, values = measure.of(lists)
    return dict(zip(map(str, ids.tolist()), values.tolist(), strict=True))


def _figure(of: "Mapping[str, Any]") -> str:
    """Return what is shown of a measure: a mean with four digits, a sum as it is."""
    return f"{of['mean']:g}" if of["summary"] == "sum" else _cell(of["mean"])


def _cell(value: float | None) -> str:
    """Return a value with four digits, "-" for none."""
    return "-" if value is None else f"{value:.4f}"


def _print_queries(table: "Mapping[str, Mapping[str, float]]", *, title: str = "") -> None:
    """Print values by measure and query, a query a row."""
    ids = dict.fromkeys(query for values in table.values() for query in values)
    rows = ([query, *(_cell(values.get(query)) for values in table.values())] for query in ids)
    print_table(["query", *table], rows, title=title, numbers_from=1)


def _as_records(comparison: "RunComparison") -> dict[str, Any]:
    settings = {name: getattr(comparison, name) for name in ("baseline", "confidence", "resamples", "seed")}
    return {**settings, "rows": comparison.table().records}


def _print_notes(measures: "Mapping[str, Mapping[str, Any]]") -> None:
    """Say what tells measures from others of their name, and which figures are no means."""
    for name, of in measures.items():
        if of["note"]:
            echo_wrapped(f"{name}: {of['note']}.")
    other = [f"{name} is a {of['summary']}" for name, of in measures.items() if of["summary"] != "mean"]
    if other:
        echo_wrapped(f"{', '.join(other)} over queries, which --baseline does not compare.")


def _as_csv(report: dict[str, Any]) -> str:
    """Return a report as CSV: the comparison where there is one, else the values of queries, else the figures."""
    from structsvm.tables import Table, as_csv

    if "comparison" in report:
        table = report["comparison"].table()
    else:
        of_data = [report] if "model" in report else report["runs"]
        own = [
            {name: of[name] for name in ("model", "run", "file", "topics", "queries", "documents") if name in of}
            for of in of_data
        ]
        if "per_query" in of_data[0]:
            records = [
                {**about, "measure": measure, "query": query, "value": value}
                for about, of in zip(own, of_data, strict=True)
                for measure, values in of["per_query"].items()
                for query, value in values.items()
            ]
        else:
            records = [
                {**about, "measure": measure, **figures}
                for about, of in zip(own, of_data, strict=True)
                for measure, figures in of["measures"].items()
            ]
        table = Table("", (), (tuple(records),))
    return as_csv([table])


def _draw(lists: "Mapping[str, RankedLists]", path: Path) -> None:
    """Draw precision at levels of recall."""
    from structsvm.plots import InterpolatedPrecisionDisplay
    from structsvm.plots.interpolated_precision import MOST_INSIDE
    from structsvm.plots.style import as_label

    def draw(axes: "Axes") -> None:
        InterpolatedPrecisionDisplay.from_lists(lists, ax=axes)
        if len(lists) == 1:  # several have a legend
            axes.set_title(as_label(next(iter(lists))))

    width, height = (6.0, 3.8) if len(lists) <= MOST_INSIDE else (8.0, max(3.8, 0.9 + 0.19 * len(lists)))
    write_plot(path, width, height, draw)


def _print_undefined(reports: "Iterable[dict[str, Any]]") -> None:
    """Say what the queries counted for which a measure was undefined, if there were any."""
    for empty in dict.fromkeys(of["empty"] for of in reports if of["undefined"]):
        echo_wrapped(f"Queries without a value, such as those without relevant documents, are {_EMPTY[empty]}.")
