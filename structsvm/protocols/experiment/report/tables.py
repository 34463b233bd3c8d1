"""The tables of an experiment, in the layout of the paper."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median, median_low

import numpy as np
from attrs import asdict, evolve, filters

from structsvm.evaluation.paired_columns import interval_column, interval_note, paired_table, wins_losses_ties
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.foundation.types import Vector
from structsvm.metrics import AP
from structsvm.protocols.model import spelled
from structsvm.protocols.results import TIED, WITH_BEST, WITHOUT_BEST, Denominators, MapRow, Results, known_gaps

VARIANTS: Mapping[str, str] = {
    WITH_BEST: "all base functions",
    WITHOUT_BEST: "all base functions but the best one",
}
"""Description of the base functions that models read, by variant."""

_OF_PLACES = {1: "Best function", 2: "2nd best", 3: "3rd best"}

_DENOMINATORS: Mapping[Denominators, str] = {
    "pool": "R is the number of relevant documents in the pool of the query.",
    "judged": "R is the number of all documents judged relevant, in the pool or not, as in trec_eval.",
}

_SIGNS = """\
W/L/T: number of queries on which {reference} is better, worse, and equal. p: two-tailed Wilcoxon signed rank test. \
Holm: p corrected for all {comparisons} comparisons in the table; compare this value with 0.05."""

_TIES = """\
MAP is the mean over all orders of documents with equal scores. \
Tied: share of documents whose score equals another's (for base functions, among retrieved documents)."""

_FUNCTIONS = """\
The best base functions have the largest MAP over all queries, an optimistic choice. Documents that a base function \
did not retrieve rank last."""


def data_table(results: Results) -> Table:
    """Return the statistics of the data: Table 5 of the paper, with the documents."""
    statistics = results.statistics
    columns = tuple(Column.number(name.capitalize(), name) for name in statistics)
    return Table("Data", columns, ((statistics,),))


def map_table(results: Results, variant: str, denominators: Denominators = "pool") -> Table:
    """Return a table of MAP, with wins and losses against the first model, as in Tables 7 and 10 of the paper.

    Parameters
    ----------
    results : results of `structsvm.protocols.experiment.run`.
    variant : ``"with-best"`` (Tables 7 and 10) or ``"without-best"`` (8 and 11).
    denominators : "pool" or "judged"; see `Results.rows`.

    Examples
    --------
    >>> from structsvm.data import load_digits_runs, pool_runs
    >>> from structsvm.protocols.experiment import Settings, run
    >>> pool = pool_runs(*load_digits_runs(n_queries=5, n_candidates=40, depth=10))
    >>> results = run(pool, Settings(trials=5, train=2, validation=1, models=["CombSUM"]), "results", n_jobs=1)
    >>> [(record["name"], round(record["map"], 2)) for record in map_table(results, "with-best").records][:2]
    [('CombSUM', 0.55), ('rows', 0.66)]
    """
    rows = results.rows(variant, denominators=denominators)
    key = {"variant": variant, "denominators": denominators}
    records = tuple(key | asdict(row, filter=filters.exclude("values")) for row in rows)
    models = len(results.models)
    kind = "" if denominators == "pool" else ", with the denominators of trec_eval"
    return Table(
        title=f"MAP of models that read {VARIANTS[variant]}{kind}",
        columns=(
            Column("Model", display_name, right=False),
            Column.number("MAP", "map", ".4f"),
            interval_column(form=".3f"),
            Column("W/L/T", wins_losses_ties),
            Column.p_value("p", "p_value"),
            Column.p_value("Holm", "holm"),
            Column.number("Tied", "tied", ".0%"),
        ),
        sections=(records[:models], records[models:]),
        notes=(_DENOMINATORS[denominators],),
    )


def leading(rows: Sequence[MapRow]) -> list[MapRow]:
    """Return the most important rows: the first model, the best other model, and the best base function."""
    reference, *others = rows
    models = [row for row in others if not row.place]
    best = [max(models, key=lambda row: row.map)] if models else []
    return [reference, *best, *(row for row in others if row.place == 1)]


def function_table(results: Results) -> Table:
    """Return the MAP of each base function over the pool, best first."""
    records = tuple(
        {
            "name": function.name,
            "map": function.mean_ap,
            "retrieved": function.retrieved,
            "tied": fmean(function.queries[TIED]),
        }
        for function in results.functions
    )
    return Table(
        title="Base functions, over the pool",
        columns=(
            Column.text("Base function", "name"),
            Column.number("MAP", "map", ".4f"),
            Column.number("Retrieved", "retrieved", ".0%"),
            Column.number("Tied", "tied", ".0%"),
        ),
        sections=(records,),
        notes=("Retrieved: share of the documents of the pool.",),
    )


def path_table(results: Results, variant: str) -> Table:
    """Return mean MAP on validation and test queries and the number of picks of each value of the hyper-parameter."""
    sections = []
    for model in results.models:
        fits = results.fits(variant, model)
        sections.append(
            tuple(
                {
                    "variant": variant,
                    "name": model,
                    "value": value,
                    "validation": fmean(fit.validation[k] for fit in fits),
                    "test": fmean(fit.test[k] for fit in fits),
                    "picked": sum(fit.chosen == k for fit in fits),
                }
                for k, value in enumerate(fits[0].values)
            )
        )
    return Table(
        title=f"MAP against the hyper-parameter, models read {VARIANTS[variant]}",
        columns=(
            Column.text("Model", "name"),
            Column("Value", lambda record: spelled(record["value"])),
            Column.number("Validation", "validation", ".4f"),
            Column.number("Test", "test", ".4f"),
            Column.number("Times picked", "picked"),
        ),
        sections=tuple(sections),
    )


def fits_table(results: Results, variant: str) -> Table:
    """Return training times, certified gaps and chosen values of the models of a variant."""
    records = []
    for model in results.models:
        fits = results.fits(variant, model)
        gaps, values = known_gaps(fits), fits[0].values
        records.append(
            {
                "variant": variant,
                "name": model,
                "features": median_low(fit.features for fit in fits),
                "lowest": values[0],
                "highest": values[-1],
                "picked": values[median_low(fit.chosen for fit in fits)],
                "at_an_end": sum(bool(fit.at_an_end) for fit in fits),
                "trials": len(fits),
                "seconds": fmean(math.fsum(fit.seconds) for fit in fits),
                "gap": median(gaps) if gaps else None,
                "largest_gap": max(gaps) if gaps else None,
            }
        )
    return Table(
        title=f"Training, on {VARIANTS[variant]}",
        columns=(
            Column.text("Model", "name"),
            Column.number("Features", "features"),
            Column("Tried", _tried),
            Column("Picked", lambda record: spelled(record["picked"])),
            Column("At an end", lambda record: f"{record['at_an_end']} of {record['trials']}"),
            Column.number("Seconds", "seconds", ".2f"),
            Column.number("Gap", "gap", ".1e", missing="none"),
            Column.number("Largest gap", "largest_gap", ".1e", missing="none"),
        ),
        sections=(tuple(records),),
        notes=(
            "Tried and picked: the hyper-parameter, C of an SVM. Features, picked values and gaps are medians of the "
            "trials, seconds the mean. At an end: trials in which validation picked the least or largest value of the "
            "grid, and it was better than its neighbor. Seconds are the wall-clock time of training for all values, "
            "without compilation; "
            "each fit of an SVM of the paper starts from the previous model. The gap, over every C, is certified: the "
            "objective is at most this far above the optimum, in units of the loss; for RankSVM, as a share of the "
            "pairs.",
        ),
    )


def legend(results: Results) -> tuple[str, ...]:
    """Return the notes below all tables of MAP."""
    rows = results.rows(results.variants[0])
    tested = int(np.count_nonzero(~np.isnan(rows[0].values)))
    return (
        interval_note(tested, "trials", len(results.trials)),
        _SIGNS.format(reference=results.reference, comparisons=len(rows) - 1),
        _TIES,
        _FUNCTIONS,
    )


def difference_table(results: Results, variant: str) -> Table:
    """Return the differences of the first model from each other row of `map_table`, with intervals and tests."""
    reference, *others = results.rows(variant)
    tested = ~np.isnan(reference.values)
    sections: list[dict[str, tuple[Vector, Vector]]] = [{}, {}]
    for row in others:
        sections[row.place > 0][display_name(asdict(row))] = reference.values[tested], row.values[tested]
    title = f"MAP of {results.reference} minus MAP of each other ranker, models read {VARIANTS[variant]}"
    return paired_table(title, "Ranker", sections, AP.value_range, last="wilcoxon")


def query_table(results: Results, variant: str) -> Table:
    """Return average precision for each query and row, over the pool; missing if no trial tested the query."""
    rows = results.rows(variant)
    values = {row.name: [None if math.isnan(value) else value for value in row.values.tolist()] for row in rows}
    records = tuple(
        {"variant": variant, **asdict(query), **{name: of_row[k] for name, of_row in values.items()}}
        for k, query in enumerate(results.queries)
    )
    return Table(
        title=f"Average precision of each query, models read {VARIANTS[variant]}",
        columns=(
            Column.text("Query", "id"),
            *(Column.number(name.capitalize(), name) for name in ("documents", "relevant")),
            *(Column.number(name, name, ".3f") for name in values),
        ),
        sections=(records,),
    )


def map_tables(results: Results) -> tuple[Table, ...]:
    """Return the tables of MAP by the denominators of the pool, then of trec_eval; notes about all are in the first."""
    first, *others = (map_table(results, variant, kind) for kind in _DENOMINATORS for variant in results.variants)
    return (evolve(first, notes=first.notes + legend(results)), *others)


def experiment_tables(results: Results) -> tuple[Table, ...]:
    """Return every table of an experiment: its data, MAP, differences, and training."""
    differences = (difference_table(results, variant) for variant in results.variants)
    fits = (fits_table(results, variant) for variant in results.variants)
    return (data_table(results), *map_tables(results), *differences, *fits)


def display_name(record: Record) -> str:
    """Return the name of a row in tables of MAP: "SVM-map", "Best function: okapi"."""
    place = record["place"]
    return f"{_OF_PLACES.get(place, f'{place}th best')}: {record['name']}" if place else str(record["name"])


def _tried(record: Record) -> str:
    ends = [spelled(record["lowest"]), spelled(record["highest"])]
    return " to ".join(dict.fromkeys(ends))
