"""The tables of Morgan's experiment."""

from collections.abc import Sequence
from itertools import chain
from statistics import fmean

import numpy as np

from examples.papers.morgan2004.report.mean_curves import mean_interval
from examples.papers.morgan2004.results import PARTS, MorganResults, PartName
from structsvm.evaluation.paired_columns import NO_TEST, difference_columns
from structsvm.evaluation.significance.paired import signed_ranks
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.foundation.types import Vector
from structsvm.protocols.model import spelled
from structsvm.protocols.results import known_gaps

SHOWN_LENGTHS = (1, 2, 5, 10, 15, 20)
"""Query lengths at which methods are compared, if queries have that many terms."""

_PICKED = """\
At the pick: with the query length and the hyper-parameter that are best on the validation documents of the trial; of \
equally good ones the shortest, and then the least."""

_DIFFERENCES = """\
Differences of average precision are on the test documents, first minus second; a topic counts once, with the \
mean over its splits. The interval is the 95% confidence interval of the mean over topics by Student's t. W/L/T: \
topics on which the first does better, worse, the same. p belongs to the two-tailed Wilcoxon signed rank test over \
topics, ** marks p < 0.05; it is not corrected for the number of lengths and pairs."""


def data_table(results: MorganResults) -> Table:
    """Return the counts of the experiment's data."""
    relevant = [topic.relevant for topic in results.topics]
    names = {
        "documents": results.documents,
        "topics": len(results.topics),
        "left_out": len(results.left_out),
        "least_relevant": min(relevant),
        "mean_relevant": fmean(relevant),
        "most_relevant": max(relevant),
        "repeats": results.repeats,
        "terms": results.terms,
    }
    columns = (
        Column.number("Documents", "documents"),
        Column.number("Topics", "topics"),
        Column.number("Left out", "left_out"),
        Column(
            "Relevant documents a topic",
            lambda record: (
                f"{record['least_relevant']} to {record['most_relevant']}, mean {record['mean_relevant']:.1f}"
            ),
        ),
        Column.number("Splits a topic", "repeats"),
        Column.number("Terms", "terms"),
    )
    return Table("Data", columns, ((names,),))


def curve_table(results: MorganResults) -> Table:
    """Return average precision against query length, the mean over topics."""
    records: list[dict[str, float]] = [{"length": length} for length in range(1, results.terms + 1)]
    columns = [Column.number("Terms", "length")]
    for part in PARTS:
        for method in results.methods:
            name = f"{method} {part}"
            columns.append(Column.number(name, name, ".4f"))
            for record, value in zip(records, results.per_topic(method, part).mean(axis=0).tolist(), strict=True):
                record[name] = value
    return Table(
        title="Average precision against query length, mean over topics",
        columns=tuple(columns),
        sections=(tuple(records),),
        notes=(
            "The hyper-parameter is picked on the validation documents for each trial and length, so that validation "
            "figures of a method with a hyper-parameter are optimistic.",
        ),
    )


def pick_table(results: MorganResults) -> Table:
    """Return average precision of each method at the query length that validation picks."""
    records = []
    for method in results.methods:
        test = results.at_pick(method, "test")
        interval = mean_interval(test)
        lengths = results.picked_lengths(method)
        record: dict[str, object] = {
            "method": method,
            **{part: float(results.at_pick(method, part).mean()) for part in PARTS},
        }
        record |= {"test_low": interval and interval[0], "test_high": interval and interval[1]}
        record |= {f"length_{q}": float(np.quantile(lengths, q / 100)) for q in (25, 50, 75)}
        records.append(record)
    return Table(
        title="Average precision at the query length that validation picks, mean over topics",
        columns=(
            Column.text("Method", "method"),
            *(Column.number(part.capitalize(), part, ".4f") for part in PARTS),
            Column("95% interval of test", _test_interval),
            Column(
                "Terms picked",
                lambda record: f"{record['length_50']:g} ({record['length_25']:g} to {record['length_75']:g})",
            ),
        ),
        sections=(tuple(records),),
        notes=(_PICKED, "Terms picked: the median of the trials, and the quartiles."),
    )


def difference_table(results: MorganResults) -> Table:
    """Return how far each method is ahead of each other one on test documents: at the pick, and by query length."""
    lengths = [length for length in SHOWN_LENGTHS if length <= results.terms]
    sections = []
    for first, second in results.pairs:
        values = [("pick", *(results.at_pick(method, "test") for method in (first, second)))]
        one, other = (results.per_topic(method, "test") for method in (first, second))
        values += [(str(length), one[:, length - 1], other[:, length - 1]) for length in lengths]
        sections.append(tuple({"first": first, "second": second, **_difference(*each)} for each in values))
    return Table(
        title="Differences on test documents",
        columns=(
            Column("Methods", lambda record: f"{record['first']} minus {record['second']}", right=False),
            Column.text("Terms", "terms"),
            *difference_columns(),
            Column.p_value("p", "p_value"),
            Column("", lambda record: "**" if record["significant"] else "", right=False),
        ),
        sections=tuple(sections),
        notes=(_DIFFERENCES,),
    )


def value_table(results: MorganResults) -> Table:
    """Return average precision with the hyper-parameter held at each of its values, and how often it was picked."""
    sections: list[tuple[Record, ...]] = []
    last = results.terms - 1
    for method in results.methods:
        picked = results.picked_values(method)
        rows = []
        for k, value in enumerate(results.by_length(method)[0][0].values):
            test = results.per_topic_at(method, k, "test").mean(axis=0)
            rows.append(
                {
                    "method": method,
                    "value": value,
                    "train": float(results.per_topic_at(method, k, "train").mean(axis=0)[last]),
                    "test": float(test[last]),
                    "test_at_pick": float(results.at_pick(method, "test", k).mean()),
                    "best": float(test.max()),
                    "best_length": int(test.argmax()) + 1,
                    "picked": picked.count(k),
                }
            )
        sections.append(tuple(rows))
    return Table(
        title="Average precision at one value of the hyper-parameter, mean over topics",
        columns=(
            Column.text("Method", "method"),
            Column("Value", lambda record: spelled(record["value"])),
            Column.number(f"Train, {results.terms} terms", "train", ".4f"),
            Column.number(f"Test, {results.terms} terms", "test", ".4f"),
            Column.number("Test, terms picked", "test_at_pick", ".4f"),
            Column("Best test, at terms", lambda record: f"{record['best']:.4f}, {record['best_length']}"),
            Column.number("Times picked", "picked"),
        ),
        sections=tuple(sections),
        notes=(
            "The hyper-parameter is C. Terms picked: the query length that is best on validation with this value. Best "
            "test: the largest mean over topics of any one query length, which nobody "
            "knows beforehand. Times picked: trials in which validation picks the value, together with the length.",
        ),
    )


def topic_table(results: MorganResults) -> Table:
    """Return average precision of each topic at the query length that validation picks."""
    values = {(method, part): results.at_pick(method, part) for method in results.methods for part in PARTS}
    records = tuple(
        {"topic": topic.id, "relevant": topic.relevant}
        | {f"{method} {part}": float(each[row]) for (method, part), each in values.items()}
        for row, topic in enumerate(results.topics)
    )
    shown: Sequence[PartName] = ("train", "test")
    return Table(
        title="Each topic, at the query length that validation picks, mean over its splits",
        columns=(
            Column.text("Topic", "topic"),
            Column.number("Relevant", "relevant"),
            *(
                Column.number(f"{method} {part}", f"{method} {part}", ".3f")
                for part in shown
                for method in results.methods
            ),
        ),
        sections=(records,),
    )


def time_table(results: MorganResults) -> Table:
    """Return how long the methods learned, and how close to optimal their models are proved to be."""
    records = tuple(
        {
            "method": method,
            "seconds": fmean(sum(sum(fit.seconds) for fit in fits) for fits in results.by_length(method)),
            "gap": max(known_gaps(chain.from_iterable(results.by_length(method))), default=None),
        }
        for method in results.methods
    )
    return Table(
        title="Learning",
        columns=(
            Column.text("Method", "method"),
            Column.number("Seconds a trial", "seconds", ".2f"),
            Column.number("Largest gap", "gap", ".1e", missing="none"),
        ),
        sections=(records,),
        notes=(
            "Seconds: mean of the trials, all query lengths and values of the hyper-parameter, in one thread. The gap "
            "is certified: no weights have an objective that is better by more, in units of average precision.",
        ),
    )


def line_table(results: MorganResults) -> Table:
    """Return average precision of each topic, method and query length, on each part: the lines of ``topics.csv``."""
    values = {(method, part): results.per_topic(method, part) for method in results.methods for part in PARTS}
    records = tuple(
        {"topic": topic.id, "relevant": topic.relevant, "method": method, "length": length + 1}
        | {part: float(values[method, part][row, length]) for part in PARTS}
        for row, topic in enumerate(results.topics)
        for method in results.methods
        for length in range(results.terms)
    )
    return Table("Average precision of each topic", (), (records,))


def all_tables(results: MorganResults) -> tuple[Table, ...]:
    """Return every table that people read."""
    makers = (data_table, pick_table, difference_table, curve_table, value_table, topic_table, time_table)
    return tuple(make(results) for make in makers)


def _difference(terms: str, first: Vector, second: Vector) -> Record:
    """Return how far one method is ahead of another with some terms, given the values of the topics for each."""
    low, high = mean_interval(first - second) or (None, None)
    paired = signed_ranks(first, second)
    p_value = paired.p_values["wilcoxon"]
    return {
        "terms": terms,
        "difference": float((first - second).mean()),
        "low": low,
        "high": high,
        "wins": paired.wins,
        "losses": paired.losses,
        "ties": paired.ties,
        "p_value": p_value,
        "significant": p_value is not None and p_value < 0.05,
    }


def _test_interval(record: Record) -> str:
    return NO_TEST if record["test_low"] is None else f"[{record['test_low']:.4f}, {record['test_high']:.4f}]"
