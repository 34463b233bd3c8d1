"""Tables and notes about the figures of several models or runs, which ``structsvm evaluate`` prints.

A report has the figures of `structsvm.evaluation.runs.figures` for each of its "models", or each of its "runs"; the
settings "confidence", "ties" and "all_topics"; and a `RunComparison` as "comparison" if there is a baseline.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from structsvm.evaluation.paired_columns import interval_text
from structsvm.exceptions import counted, first_of
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.metrics.base import TieRange

Report: TypeAlias = Mapping[str, Any]

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


def figure_table(report: Report) -> Table:
    """Return the figures: a row for each model and measure, or a row for each run."""
    heading = f"{100 * report['confidence']:g}% interval"
    if "models" in report:
        models = [Column.text("model", "model")] if len(report["models"]) > 1 else []
        columns = (
            *models,
            Column.text("measure", "measure"),
            Column("mean", _mean),
            Column(heading, _interval),
            Column.number("queries", "queries", "d"),
            Column.number("without a value", "undefined", "d"),
        )
        return Table("", columns, (tuple(_figures(report)),))
    counts = {name: name.replace("_", " ") for name in ("topics", "documents", "relevant", "relevant_retrieved")}
    counts["documents"] = "retrieved"
    return Table(
        "",
        (
            Column.text("run", "run"),
            Column.text("file", "file"),
            *(Column.number(shown, name, "d") for name, shown in counts.items()),
            *(
                column
                for name in report["runs"][0]["measures"]
                for column in (_of_measure(name, name, _mean), _of_measure(heading, name, _interval))
            ),
        ),
        (tuple(report["runs"]),),
    )


def query_tables(report: Report) -> list[Table]:
    """Return a table of the values of queries for each model or run that has them, with a column for each measure."""
    tables = []
    for system in _systems(report):
        values = system.get("per_query")
        if values is None:
            continue
        ids = dict.fromkeys(query for of_measure in values.values() for query in of_measure)
        records = (
            {"query": query, **{name: of_measure.get(query) for name, of_measure in values.items()}} for query in ids
        )
        columns = (Column.text("query", "query"), *(Column.number(name, name, ".4f", missing="-") for name in values))
        title = f"{system['run']} ({system['file']})" if "run" in system else _name(report, system)
        tables.append(Table(title, columns, (tuple(records),)))
    return tables


def notes_of(report: Report) -> list[str]:
    """Return the notes about measures, ties and topics that are left out."""
    systems, figures = _systems(report), _figures(report)
    measures = systems[0]["measures"]
    notes = [f"{name}: {of['note']}." for name, of in measures.items() if of["note"]]
    sums = [f"{name} is a {of['summary']}" for name, of in measures.items() if of["summary"] != "mean"]
    if sums:
        notes.append(f"{', '.join(sums)} over queries, which --baseline does not compare.")
    if any(of["cut"] for of in figures):
        notes.append("Intervals are cut at the ends of the measure's range.")
    notes += [
        f"Queries without a value, for example because no document is relevant, are {_EMPTY[empty]}."
        for empty in dict.fromkeys(of["empty"] for of in figures if of["undefined"])
    ]
    return [*notes, *_ties(report), *_left_out(report)]


def to_csv(report: Report) -> str:
    """Return the comparison as CSV, or else the values of queries, or else the figures."""
    if "comparison" in report:
        return str(report["comparison"].table().to_csv())
    records = [
        {**_key(system), "measure": measure, "query": query, "value": value}
        for system in _systems(report)
        for measure, values in system.get("per_query", {}).items()
        for query, value in values.items()
    ]
    return Table("", (), (tuple(records or _figures(report)),)).to_csv()


def to_json(report: Report) -> dict[str, Any]:
    """Return the report with the comparison as settings and records."""
    if "comparison" not in report:
        return dict(report)
    comparison = report["comparison"]
    settings = {
        "baseline": comparison.baseline,
        "confidence": comparison.confidence_level,
        "resamples": comparison.n_resamples,
        "seed": comparison.random_state,
    }
    return {**report, "comparison": {**settings, "rows": comparison.table().records}}


def _systems(report: Report) -> Sequence[Mapping[str, Any]]:
    systems: Sequence[Mapping[str, Any]] = report.get("models") or report["runs"]
    return systems


def _key(system: Mapping[str, Any]) -> dict[str, Any]:
    """Return the names and sizes of a model or run."""
    names = ("model", "run", "file", "topics", "queries", "documents")
    return {name: system[name] for name in names if name in system}


def _name(report: Report, system: Mapping[str, Any]) -> str:
    """Return the name of a model, or the file of a run, if there are several."""
    return str(system.get("model", system.get("file"))) if len(_systems(report)) > 1 else ""


def _figures(report: Report) -> list[Record]:
    """Return the figures of each model or run by each measure, with its name and sizes."""
    return [
        {**_key(system), "measure": measure, **figures}
        for system in _systems(report)
        for measure, figures in system["measures"].items()
    ]


def _of_measure(heading: str, name: str, shown: Any) -> Column:
    return Column(heading, lambda record: str(shown(record["measures"][name])))


def _mean(figures: Record) -> str:
    """Format a mean with four digits, and a sum unchanged."""
    mean = figures["mean"]
    return f"{mean:g}" if figures["summary"] == "sum" else "-" if mean is None else f"{mean:.4f}"


def _interval(figures: Record) -> str:
    return interval_text(figures["low"], figures["high"])


def _ties(report: Report) -> list[str]:
    """Return notes on the effect of the order of documents with equal scores, and the rule that decides it."""
    unit = "queries" if "models" in report else "topics"
    notes = []
    for system in _systems(report):
        name = _name(report, system)
        for measure, of in system["measures"].items():
            if of["tied_queries"]:
                ties = TieRange(of["tied_queries"], of["lowest"], of["highest"])
                notes.append(f"{name}{': ' if name else ''}{ties.note(measure, system[unit], unit)}")
    return [*notes, _TIES[report["ties"]]] if notes else []


def _left_out(report: Report) -> list[str]:
    """Return notes on topics of runs that do not count."""
    notes = []
    for kind, reason in _LEFT_OUT.items():
        if kind == "not_in_run" and report["all_topics"]:
            continue
        alike: dict[tuple[str, ...], list[str]] = {}
        for run in report.get("runs", ()):
            alike.setdefault(tuple(run[kind]), []).append(run["run"])
        for topics, names in alike.items():
            if topics:
                verb = "is" if len(topics) == 1 else "are"
                notes.append(
                    f"{', '.join(names)}: {counted(len(topics), 'topic')} ({first_of(topics, 3)}) {verb} {reason}"
                )
    return notes
