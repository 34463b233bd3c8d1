"""The tables and the figure of a benchmark, and their files."""

import math
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from structsvm.evaluation.paired_columns import interval_column, interval_note, interval_record, paired_table
from structsvm.evaluation.significance.intervals import range_of_differences
from structsvm.exceptions import UnknownNameError
from structsvm.foundation.settings import as_path, require_choice
from structsvm.foundation.tables.formats import table_texts, write_texts
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.plots import STYLE, MeansDisplay
from structsvm.plots.files import figure_of
from structsvm.plots.style import measure_label, require_matplotlib
from structsvm.protocols.letor.measures import CUTOFFS, SHOWN, value_range_of
from structsvm.protocols.model import spelled
from structsvm.protocols.results import MODELS, Results, known_gaps

FIGURE = "figures/means.svg"
"""File of `write_figure`."""

WIDER_RANGE = "a model with a wider range, given to benchmark(models=...) in Python, may do better"
"""Advice if validation picked the end of a range. It mentions Python because no command has an option for ranges."""

MEAN = "mean"

_MODEL, _FOLD = Column.text("Model", "model"), Column.text("Fold", "fold")

_NDCG = "NDCG has gains 2^grade - 1 and LETOR's discounts: 1 for the first two places, 1/log2(r) for place r."
_BY_CUTOFF = {
    "p": (
        "Precision on the test queries",
        ("Places beyond the last document of a query count as not relevant.",),
    ),
    "ndcg": ("NDCG on the test queries", (_NDCG,)),
    "ndcg4": (
        "NDCG on the test queries, as computed by the tool of LETOR 4.0",
        (
            _NDCG,
            "NDCG of LETOR 4.0: a query with fewer than k documents counts as 0. Therefore published figures of short "
            "queries decrease with k.",
        ),
    ),
}
"""Titles and notes of `measure_table`."""

_EMPTY = "A query without a relevant document counts as 0."
_TIES = "Measures are means over all orders of documents with equal scores."
_POOLED = "mean: over the test queries of all folds, so that each query counts once."


def _table(
    results: Results,
    title: str,
    columns: Iterable[Column],
    record: Callable[[str], Record],
    notes: Iterable[str] = (),
) -> Table:
    """Return a table with a row for each model, and a second section for single features."""
    sections = tuple(tuple(map(record, names)) for names in (results.models, results.features) if names)
    return Table(_titled(results, title), (_MODEL, *columns), sections, tuple(notes))


def _titled(results: Results, title: str) -> str:
    return f"{title}, {results.title}" if results.title else title


def summary_table(results: Results) -> Table:
    """Return the means over all test queries: MAP, P and NDCG at 1, 5 and 10; and training time."""

    def record(name: str) -> Record:
        seconds = fmean(math.fsum(fit.seconds) for fit in results.of(name).values())
        return {"model": name, **{measure: results.mean(name, measure) for measure in SHOWN}, "seconds": seconds}

    folds = len(results.trials)
    return _table(
        results,
        f"Test queries, mean over {folds} folds" if folds > 1 else "Test queries",
        (
            *(Column.number(measure.upper(), measure, ".4f") for measure in SHOWN),
            Column.number("Seconds", "seconds", ".2f"),
        ),
        record,
        (
            _EMPTY,
            _POOLED,
            _NDCG,
            "Seconds are the wall-clock time of training for all values of the hyper-parameter, mean of the folds. "
            "They do not contain compilation.",
        ),
    )


def fold_table(results: Results, measure: str | None = None) -> Table:
    """Return a measure on the test queries of each fold, and its mean over all test queries.

    The mean has an interval if the results have values for each query (`Results.measures`).

    Parameters
    ----------
    results : results of `structsvm.protocols.letor.benchmark`.
    measure : name of the measure; None: the measure of validation.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> _ = write_folds("folds", data, folds=3)
    >>> results = benchmark("folds", "CombSUM", n_jobs=1, title="digits")
    >>> print(fold_table(results, "p@3"))
    P@3 on the test queries, digits
    Model           Fold1    Fold2    Fold3     mean
    ────────────────────────────────────────────────
    CombSUM        0.4444   0.6667   0.5556   0.5556
    Best feature   0.2778   0.6667   0.2222   0.3889
    <BLANKLINE>
    A query without a relevant document counts as 0.
    <BLANKLINE>
    mean: over the test queries of all folds, so that each query counts once.
    """
    measure = measure or results.measure
    folds = [fold.name for fold in results.trials]
    by_query = measure in results.measures

    def record(name: str) -> Record:
        of_folds = dict(zip(folds, results.measured(name, measure), strict=True))
        ends = interval_record(results.values(name, measure), value_range_of(measure)) if by_query else {}
        return {"model": name, **of_folds, MEAN: results.mean(name, measure), **ends}

    return _table(
        results,
        f"{measure.upper()} on the test queries",
        (
            *(Column.number(name, name, ".4f") for name in (*folds, MEAN)),
            *([interval_column()] if by_query else []),
        ),
        record,
        (
            _EMPTY,
            _POOLED,
            *([interval_note(sum(len(fold.test) for fold in results.trials), "folds", len(folds))] if by_query else []),
            *([" ".join([*results.ties, _TIES])] if measure == results.measure and results.ties else []),
        ),
    )


def difference_table(results: Results, baseline: str | None = None, measure: str | None = None) -> Table:
    """Return differences from a model (None: the first) over all test queries, with intervals and tests.

    ``measure`` is one of `Results.measures`; None: the measure of validation.
    """
    measure = measure or results.measure
    first = results.reference if baseline is None else baseline
    names = (*results.models, *results.features)
    if first not in names:
        raise UnknownNameError("benchmark model", first, names)
    values = results.values(first, measure)
    sections = [
        {name: (results.values(name, measure), values) for name in group if name != first}
        for group in (results.models, results.features)
        if group
    ]
    title = f"Difference in {measure.upper()} from {first}, query by query"
    return paired_table(_titled(results, title), "Model", sections, value_range_of(measure))


def measure_table(results: Results, name: str) -> Table:
    """Return "p", "ndcg" or "ndcg4" at the cut-offs 1 to 10, for each fold and their mean."""
    require_choice("name", name, _BY_CUTOFF)
    title, notes = _BY_CUTOFF[name]
    measures = {f"{name}@{k}": f"@{k}" for k in CUTOFFS}

    def records(model: str) -> Iterator[Record]:
        for fold, fit in results.of(model).items():
            yield {"model": model, "fold": fold, **{measure: fit.measures[measure] for measure in measures}}
        yield {"model": model, "fold": MEAN, **{measure: results.mean(model, measure) for measure in measures}}

    return Table(
        _titled(results, title),
        (_MODEL, _FOLD, *(Column.number(heading, measure, ".4f") for measure, heading in measures.items())),
        tuple(tuple(records(model)) for model in (*results.models, *results.features)),
        (_EMPTY, _POOLED, *notes),
    )


def training_table(results: Results) -> Table:
    """Return the values that each fold tried and picked, with their results and training times."""
    measure = results.measure
    return Table(
        title=_titled(results, "Training"),
        columns=(
            _MODEL,
            _FOLD,
            Column.number("Tried", "tried"),
            Column("Picked", lambda record: spelled(record["picked"]), right=False),
            Column.number(f"Validation {measure.upper()}", f"validation_{measure}", ".4f"),
            Column.number(f"Test {measure.upper()}", measure, ".4f"),
            Column.number("Seconds, all", "seconds", ".2f"),
            Column.number("Picked one", "seconds_picked", ".2f"),
            Column.number("Compiling", "compile_seconds", ".2f"),
            Column.number("Largest gap", "gap", ".1e"),
        ),
        sections=tuple(tuple(_training(results, name)) for name in results.models),
        notes=(
            f"The picked value of the hyper-parameter (C of an SVM) has the largest {measure.upper()} on the "
            f"validation queries. {_starts(results)} The gap is certified: the objective is at most this far above "
            "the optimum, in units of the loss; for RankSVM, as a share of the pairs. Seconds are wall-clock time "
            "without compilation.",
            *(f"{end}." for end in results.ends),
            *([f"At an end of a range, {WIDER_RANGE}."] if results.ends else []),
            *(f"{sentence}; its figures are for the last iterate." for sentence in results.unconverged),
        ),
    )


def record_table(results: Results) -> Table:
    """Return all numbers, a row for each model and fold, and for the mean: the content of a CSV file."""
    records: list[Record] = []
    validated, queries = f"validation_{results.measure}", [len(fold.validation) for fold in results.trials]
    for name in (*results.models, *results.features):
        fits = [*results.of(name).values()]
        rows = [{**row, **fit.measures} for row, fit in zip(_training(results, name), fits, strict=True)]
        means = {
            validated: float(np.average([row[validated] for row in rows], weights=queries)),
            **{time: fmean(row[time] for row in rows) for time in ("seconds", "seconds_picked", "compile_seconds")},
            **{measure: results.mean(name, measure) for measure in fits[0].measures},
        }
        records += [*rows, {**dict.fromkeys(rows[0]), "model": name, "fold": MEAN, **means}]
    return Table("All measures", (_MODEL, _FOLD), (tuple(records),))


def size_table(results: Results) -> Table:
    """Return the numbers of training, validation and test queries and documents of each fold."""
    headings = {
        f"{role}_{unit}": f"{role.capitalize()} {unit}"
        for unit in ("queries", "documents")
        for role in ("training", "validation", "test")
    }
    records = [
        (fold.name, *map(len, (fold.train, fold.validation, fold.test)), *fold.documents) for fold in results.trials
    ]
    return Table(
        title=_titled(results, "Queries and documents"),
        columns=(_FOLD, *(Column.number(heading, name) for name, heading in headings.items())),
        sections=(tuple(dict(zip(("fold", *headings), record, strict=True)) for record in records),),
    )


def benchmark_tables(results: Results, baseline: str | None = None) -> tuple[Table, ...]:
    """Return every table; differences are from ``baseline`` (None: the first model)."""
    several = len(results.models) > 1
    return (
        size_table(results),
        summary_table(results),
        *(fold_table(results, measure) for measure in results.measures),
        *(difference_table(results, baseline, measure) for measure in results.measures if several),
        *(measure_table(results, name) for name in _BY_CUTOFF),
        training_table(results),
    )


def write_tables(results: Results, folder: str | Path, baseline: str | None = None) -> tuple[Path, ...]:
    """Write the tables of a benchmark; replace each file only when it is complete.

    ``tables.txt``, ``tables.md``, ``tables.tex`` (for LaTeX with booktabs) and ``tables.json`` have all tables;
    ``tables.csv`` has every measure, in a line for each model and fold and a line for each model's mean.

    Parameters
    ----------
    results : results of `structsvm.protocols.letor.benchmark`.
    folder : folder of the files; created if it does not exist.
    baseline : model to compare the other models with; None: the first.

    Raises
    ------
    InputError : a file cannot be written, or ``baseline`` is unknown.

    Examples
    --------
    >>> from structsvm.data import load_digits_queries
    >>> from structsvm.protocols.letor import benchmark, write_folds
    >>> data, _ = load_digits_queries(n_train=9, n_candidates=20)
    >>> _ = write_folds("folds", data, folds=3)
    >>> paths = write_tables(benchmark("folds", ["CombSUM", "Borda"], n_jobs=1), "tables")
    >>> [path.name for path in paths]
    ['tables.txt', 'tables.md', 'tables.tex', 'tables.csv', 'tables.json']
    """
    texts = table_texts(benchmark_tables(results, baseline), [record_table(results)])
    return write_texts(texts, as_path("folder", folder))


def write_figure(results: Results, folder: Path, baseline: str | None = None) -> Path:
    """Draw means and differences from the baseline (None: the first model) with 95% intervals, as an SVG file.

    Raise NotInstalledError if Matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib import rc_context

    first = results.reference if baseline is None else baseline
    values = {name: results.values(name) for name in results.models}
    ends = value_range_of(results.measure)
    label = measure_label(results.measure)
    with rc_context(STYLE):
        with figure_of("means", 9.4, 0.9 + 0.28 * len(values)) as (figure, drawn):
            means, *others = figure.subplots(1, min(len(values), 2), sharey=True, squeeze=False)[0]
            for axes in others:
                # The baseline keeps its row, so that both panels have the same rows.
                differences = {name: of_model - values[first] for name, of_model in values.items()}
                MeansDisplay(
                    differences, measure=f"{label} minus that of {first}", value_range=range_of_differences(ends)
                ).plot(axes)
            MeansDisplay(values, measure=f"{label} on the test queries of all folds", value_range=ends).plot(means)
        plot = drawn(
            f"{label} of each model and its difference from {first}, with 95% intervals over the test queries of all "
            "folds"
        )
    (path,) = write_texts({FIGURE: f"{plot.svg}\n"}, folder)
    return path


def _training(results: Results, name: str) -> list[dict[str, Any]]:
    """Return tried and picked values of a model or single feature, fold by fold."""
    return [
        {
            "model": name,
            "fold": fold,
            "tried": len(fit.values),
            "picked": fit.value,
            f"validation_{results.measure}": fit.validation[fit.chosen],
            "seconds": math.fsum(fit.seconds),
            "seconds_picked": fit.seconds[fit.chosen],
            "compile_seconds": fit.compile_seconds,
            "gap": max(known_gaps([fit]), default=None),
            results.measure: fit.measures[results.measure],
        }
        for fold, fit in results.of(name).items()
    ]


def _starts(results: Results) -> str:
    """Describe which models start training from the weights of the previous value."""
    warm = [name for name, fit in results.trials[0].fits[MODELS].items() if fit.warm_started]
    if not warm:
        return "Training starts from zero at each value."
    *others, last = warm
    start = f"{', '.join(others)} and {last} start" if others else f"{last} starts"
    return f"{start} from the weights of the previous value, all other models from zero."
