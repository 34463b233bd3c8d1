"""The tables of a benchmark."""

import math
from collections.abc import Callable
from statistics import fmean
from typing import Any

from structsvm.protocols import Value
from structsvm.protocols.letor.measures import CUTOFFS
from structsvm.protocols.letor.results import Benchmark, FoldResults, Outcome
from structsvm.tables import Column, Record, Table

MEAN = "mean"

_SHOWN = ("map", *(f"{name}@{k}" for name in ("p", "ndcg") for k in (1, 5, 10)))
_TITLES = {
    "p": "Precision on the test queries",
    "ndcg": "NDCG on the test queries",
    "ndcg4": "NDCG on the test queries, as the tool of LETOR 4.0 counts it",
}
_NDCG = "NDCG has gains 2^grade - 1 and LETOR's discounts: 1 for the first two places, 1/log2(r) for place r"
_NOTES = {
    "p": "Places beyond the last document of a query hold none that is relevant.",
    "ndcg": f"{_NDCG}.",
    "ndcg4": f"{_NDCG}; a query with fewer than k documents counts 0, which is why published figures of short queries "
    "fall where k is larger.",
}
_EMPTY = "A query without a relevant document counts 0."


def summary_table(benchmark: Benchmark) -> Table:
    """Return the means over the folds: MAP, P and NDCG at 1, 5 and 10, and training time."""
    models = tuple(_summary(benchmark, name) for name in benchmark.models)
    features = tuple(_summary(benchmark, name) for name in benchmark.features)
    mean_of = f", mean of {len(benchmark.folds)} folds" if len(benchmark.folds) > 1 else ""
    return Table(
        title=f"Test queries{mean_of}{_of(benchmark)}",
        columns=(
            _MODEL,
            *(Column(_heading(measure), _digits(measure)) for measure in _SHOWN),
            Column("Seconds", lambda record: f"{record['seconds']:.2f}"),
        ),
        sections=(models, features) if features else (models,),
        notes=(f"{_EMPTY} {_NDCG}. Seconds: training for all values of the hyper-parameter, mean of the folds.",),
    )


def map_table(benchmark: Benchmark) -> Table:
    """Return MAP on the test queries of each fold."""
    names = [fold.name for fold in benchmark.folds]
    records = [
        tuple(
            {
                "model": name,
                **{fold: outcome.measures["map"] for fold, outcome in zip(names, benchmark.of(name), strict=True)},
                MEAN: benchmark.mean(name, "map"),
            }
            for name in group
        )
        for group in (benchmark.models, benchmark.features)
        if group
    ]
    return Table(
        title=f"MAP on the test queries{_of(benchmark)}",
        columns=(_MODEL, *(Column(name, _digits(name)) for name in (*names, MEAN))),
        sections=tuple(records),
        notes=(_EMPTY,),
    )


def measure_table(benchmark: Benchmark, name: str) -> Table:
    """Return a measure at the cut-offs 1 to 10, for each fold and their mean.

    Parameters
    ----------
    benchmark : its results.
    name : "p", "ndcg", or "ndcg4", which is NDCG as the tool of LETOR 4.0 counts it.
    """
    measures = [f"{name}@{k}" for k in CUTOFFS]
    sections = []
    for model in (*benchmark.models, *benchmark.features):
        of_folds: list[Record] = [
            {"model": model, "fold": fold.name, **{each: outcome.measures[each] for each in measures}}
            for fold, outcome in zip(benchmark.folds, benchmark.of(model), strict=True)
        ]
        mean = {"model": model, "fold": MEAN, **{each: benchmark.mean(model, each) for each in measures}}
        sections.append((*of_folds, mean))
    return Table(
        title=f"{_TITLES[name]}{_of(benchmark)}",
        columns=(
            _MODEL,
            Column("Fold", _text("fold"), right=False),
            *(Column(f"@{k}", _digits(measure)) for k, measure in zip(CUTOFFS, measures, strict=True)),
        ),
        sections=tuple(sections),
        notes=(f"{_EMPTY} {_NOTES[name]}",),
    )


def training_table(benchmark: Benchmark) -> Table:
    """Return what was tried and picked in each fold, how that did, and how long it took."""
    sections = tuple(
        tuple(_training(name, fold, outcome) for fold, outcome in zip(benchmark.folds, benchmark.of(name), strict=True))
        for name in benchmark.models
    )
    return Table(
        title=f"Training{_of(benchmark)}",
        columns=(
            _MODEL,
            Column("Fold", _text("fold"), right=False),
            Column("Tried", _number("tried")),
            Column("Picked", lambda record: _spelled(record["picked"]), right=False),
            Column("Validation MAP", _digits("validation_map")),
            Column("Test MAP", _digits("map")),
            Column("Seconds, all", lambda record: f"{record['seconds']:.2f}"),
            Column("Picked one", lambda record: f"{record['seconds_picked']:.2f}"),
            Column("Largest gap", lambda record: "" if record["gap"] is None else f"{record['gap']:.1e}"),
        ),
        sections=sections,
        notes=(
            "The value of the hyper-parameter (C of an SVM) that is picked has the largest MAP on the validation "
            "queries. SVM-map, SVM-map-bins, SVM-roc and SVM-ndcg start from the weights of the value before, all "
            "others anew. The gap is certified: no weights are better by more, in units of the loss; for RankSVM, as a "
            "share of the pairs.",
            *(f"{end}: a wider range may do better." for end in benchmark.ends),
            *(f"{each}: its figures are of what was reached by then." for each in benchmark.unconverged),
        ),
    )


def record_table(benchmark: Benchmark) -> Table:
    """Return every number, a row for each model and fold, and for the mean: the content of a CSV file."""
    records: list[Record] = []
    for name in (*benchmark.models, *benchmark.features):
        rows = [
            {**_training(name, fold, outcome), **outcome.measures}
            for fold, outcome in zip(benchmark.folds, benchmark.of(name), strict=True)
        ]
        records.extend(rows)
        measures = benchmark.of(name)[0].measures
        records.append(
            {
                "model": name,
                "fold": MEAN,
                "tried": None,
                "picked": None,
                "validation_map": fmean(row["validation_map"] for row in rows),
                "seconds": fmean(row["seconds"] for row in rows),
                "seconds_picked": fmean(row["seconds_picked"] for row in rows),
                "gap": None,
                **{measure: benchmark.mean(name, measure) for measure in measures},
            }
        )
    columns = (_MODEL, Column("Fold", _text("fold"), right=False), Column("MAP", _digits("map")))
    return Table(f"All measures{_of(benchmark)}", columns, (tuple(records),))


def data_table(benchmark: Benchmark) -> Table:
    """Return how many queries and documents each fold has to train, to validate and to test."""
    records = tuple(
        {
            "fold": fold.name,
            **{f"{role}_queries": number for role, number in zip(_ROLES, fold.queries, strict=True)},
            **{f"{role}_documents": number for role, number in zip(_ROLES, fold.documents, strict=True)},
        }
        for fold in benchmark.folds
    )
    return Table(
        title=f"Queries and documents{_of(benchmark)}",
        columns=(
            Column("Fold", _text("fold"), right=False),
            *(Column(f"{role.capitalize()} queries", _number(f"{role}_queries")) for role in _ROLES),
            *(Column(f"{role.capitalize()} documents", _number(f"{role}_documents")) for role in _ROLES),
        ),
        sections=(records,),
    )


def all_tables(benchmark: Benchmark) -> tuple[Table, ...]:
    """Return every table: the data, the means, and each measure fold by fold."""
    return (
        data_table(benchmark),
        summary_table(benchmark),
        map_table(benchmark),
        *(measure_table(benchmark, name) for name in _TITLES),
        training_table(benchmark),
    )


_ROLES = ("training", "validation", "test")


def _summary(benchmark: Benchmark, name: str) -> Record:
    return {
        "model": name,
        **{measure: benchmark.mean(name, measure) for measure in _SHOWN},
        "seconds": fmean(math.fsum(outcome.seconds) for outcome in benchmark.of(name)),
    }


def _training(name: str, fold: FoldResults, outcome: Outcome) -> dict[str, Any]:
    return {
        "model": name,
        "fold": fold.name,
        "tried": len(outcome.values),
        "picked": outcome.value,
        "validation_map": outcome.validation[outcome.chosen],
        "seconds": math.fsum(outcome.seconds),
        "seconds_picked": outcome.seconds[outcome.chosen],
        "gap": max((gap for gap in outcome.gaps if gap is not None), default=None),
        "map": outcome.measures["map"],
    }


def _of(benchmark: Benchmark) -> str:
    return f", {benchmark.title}" if benchmark.title else ""


def _heading(measure: str) -> str:
    return measure.upper()


def _spelled(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _text(name: str) -> Callable[[Record], str]:
    return lambda record: str(record[name])


def _number(name: str) -> Callable[[Record], str]:
    return lambda record: f"{record[name]:,}"


def _digits(name: str) -> Callable[[Record], str]:
    return lambda record: f"{record[name]:.4f}"


_MODEL = Column("Model", _text("model"), right=False)
