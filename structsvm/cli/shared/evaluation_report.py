"""Print, write and plot the report of ``structsvm evaluate``."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from structsvm.cli.shared.console import echo, echo_wrapped, print_table, show_tables
from structsvm.cli.shared.results import write_plot
from structsvm.exceptions import counted, first_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from structsvm.evaluation import RunComparison
    from structsvm.metrics import RankedLists

_EMPTY = {
    "zero": "counted as 0, as LETOR's tools and trec_eval do; --empty skip leaves them out",
    "skip": "left out; --empty zero counts them as 0, as LETOR's tools and trec_eval do",
}


_LEFT_OUT = {
    "not_judged": "not judged, and left out, as by trec_eval.",
    "not_in_run": "not in the run, and left out, as by trec_eval without -c; --all-topics counts them.",
}

_TIES = {
    "mean": "Measures are means over all orders of documents with equal scores.",
    "trec": "Documents with equal scores are ordered by id, descending, as by trec_eval; --ties mean takes the mean "
    "over their orders.",
    "input": "Documents with equal scores keep the order of the file.",
}


def print_models(report: dict[str, Any]) -> None:
    """Print the figures of models, and their comparison."""
    models = report["models"]
    several = len(models) > 1
    for of_model in models:
        if "per_query" in of_model:
            _print_queries(of_model["per_query"], title=of_model["model"] if several else "")
    echo(f"{counted(models[0]['queries'], 'query', 'queries')}, {counted(models[0]['documents'], 'document')}", "")
    rows = [(of_model, *measured) for of_model in models for measured in of_model["measures"].items()]
    print_table(
        [*(["model"] if several else []), "measure", "mean", _heading(report), "queries", "without a value"],
        (
            [
                *([of_model["model"]] if several else []),
                *(name, _figure(of), _interval(of)),
                *(str(of_model["queries"]), str(of["undefined"])),
            ]
            for of_model, name, of in rows
        ),
        numbers_from=1 + several,
    )
    _print_notes(models[0]["measures"], (of for *_, of in rows))
    _print_ties(report["ties"], "queries", {of["model"] if several else "": of for of in models})
    _print_comparison(report)


def print_runs(report: dict[str, Any]) -> None:
    """Print the figures of runs, and their comparison."""
    runs = report["runs"]
    for run in runs:
        if "per_query" in run:
            _print_queries(run["per_query"], title=f"{run['run']} ({run['file']})")
    of_measures = chain.from_iterable((name, _heading(report)) for name in runs[0]["measures"])
    print_table(
        ["run", "file", "topics", "retrieved", "relevant", "relevant retrieved", *of_measures],
        (
            [
                run["run"],
                run["file"],
                *(str(run[count]) for count in ("topics", "documents", "relevant", "relevant_retrieved")),
                *chain.from_iterable((_figure(of), _interval(of)) for of in run["measures"].values()),
            ]
            for run in runs
        ),
        numbers_from=2,
    )
    _print_notes(runs[0]["measures"], (of for run in runs for of in run["measures"].values()))
    several = len(runs) > 1
    _print_ties(report["ties"], "topics", {run["file"] if several else "": run for run in runs})
    for which, why in _LEFT_OUT.items():
        if which == "not_in_run" and report["all_topics"]:
            continue
        alike: dict[tuple[str, ...], list[str]] = {}
        for run in runs:
            alike.setdefault(tuple(run[which]), []).append(run["run"])
        echo_wrapped(*(f"{', '.join(names)}: {_topics(topics)} {why}" for topics, names in alike.items() if topics))
    _print_comparison(report)


def _heading(report: Mapping[str, Any]) -> str:
    return f"{100 * report['confidence']:g}% interval"


def _print_comparison(report: Mapping[str, Any]) -> None:
    if "comparison" in report:
        echo("")
        show_tables(report["comparison"].table())


def _topics(topics: Sequence[str]) -> str:
    return f"{counted(len(topics), 'topic')} ({first_of(topics, 3)}) {'is' if len(topics) == 1 else 'are'}"


def _interval(of: Mapping[str, Any]) -> str:
    from structsvm.evaluation.paired_columns import interval_text

    return interval_text(of["low"], of["high"])


def _figure(of: Mapping[str, Any]) -> str:
    """Format a measure: a mean with four digits, a sum unchanged."""
    return f"{of['mean']:g}" if of["summary"] == "sum" else _cell(of["mean"])


def _cell(value: float | None) -> str:
    """Format a value with four digits; "-" for None."""
    return "-" if value is None else f"{value:.4f}"


def _print_queries(table: Mapping[str, Mapping[str, float]], *, title: str = "") -> None:
    """Print values, with a row for each query and a column for each measure."""
    ids = dict.fromkeys(query for values in table.values() for query in values)
    rows = ([query, *(_cell(values.get(query)) for values in table.values())] for query in ids)
    print_table(["query", *table], rows, title=title, numbers_from=1)


def as_records(comparison: "RunComparison") -> dict[str, Any]:
    """Return a comparison for JSON."""
    return {
        "baseline": comparison.baseline,
        "confidence": comparison.confidence_level,
        "resamples": comparison.n_resamples,
        "seed": comparison.random_state,
        "rows": comparison.table().records,
    }


def _print_notes(measures: Mapping[str, Mapping[str, Any]], figures: Iterable[Mapping[str, Any]]) -> None:
    """Print notes about measures that differ from others of the same name, about sums, and queries without a value."""
    for name, of in measures.items():
        if of["note"]:
            echo_wrapped(f"{name}: {of['note']}.")
    other = [f"{name} is a {of['summary']}" for name, of in measures.items() if of["summary"] != "mean"]
    if other:
        echo_wrapped(f"{', '.join(other)} over queries, which --baseline does not compare.")
    figures = list(figures)
    if any(of["cut"] for of in figures):
        echo_wrapped("Intervals are cut at the ends of the measure's range.")
    for empty in dict.fromkeys(of["empty"] for of in figures if of["undefined"]):
        echo_wrapped(f"Queries without a value, for example because no document is relevant, are {_EMPTY[empty]}.")


def _print_ties(rule: str, topics: str, reports: Mapping[str, Mapping[str, Any]]) -> None:
    """Print how much the order of documents with equal scores matters, and the rule that decides it."""
    from structsvm.metrics.base import TieRange

    notes = [
        f"{name}{': ' if name else ''}"
        + TieRange(of["tied_queries"], of["lowest"], of["highest"]).note(measure, report[topics], topics)
        for name, report in reports.items()
        for measure, of in report["measures"].items()
        if of["tied_queries"]
    ]
    if notes:
        echo_wrapped(*notes, _TIES[rule])


def report_csv(report: dict[str, Any]) -> str:
    """Return the comparison as CSV, or else the values of queries, or else the means."""
    from structsvm.foundation.tables.table import Record, Table

    if "comparison" in report:
        comparison: RunComparison = report["comparison"]
        return comparison.table().to_csv()
    records: list[Record] = []
    for of in report.get("models") or report["runs"]:
        named = ("model", "run", "file", "topics", "queries", "documents")
        about = {name: of[name] for name in named if name in of}
        if "per_query" in of:
            for measure, values in of["per_query"].items():
                records += [{**about, "measure": measure, "query": id, "value": value} for id, value in values.items()]
        else:
            records += [{**about, "measure": measure, **figures} for measure, figures in of["measures"].items()]
    return Table("", (), (tuple(records),)).to_csv()


def draw_precision(lists: "Mapping[str, RankedLists]", path: Path) -> None:
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
