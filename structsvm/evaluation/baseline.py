"""Compare runs with a baseline by several measures."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
from attrs import evolve, field, frozen

from structsvm.data.dataset import as_runs
from structsvm.data.runs import QrelsLike, RunLike, as_qrels, as_run
from structsvm.evaluation.paired_columns import (
    corrected,
    holm_column,
    holm_note,
    paired_columns,
    paired_note,
    paired_record,
)
from structsvm.evaluation.runs import rank_run
from structsvm.evaluation.significance import PairedTests, paired_tests
from structsvm.evaluation.significance.paired import bonferroni
from structsvm.exceptions import InputError, counted, first_of, quoted
from structsvm.foundation.settings import as_list, repeated, require_number
from structsvm.foundation.tables.table import Column, Record, Table
from structsvm.metrics import Measure, RankedLists
from structsvm.metrics.base import checked_measures
from structsvm.metrics.ranking import Ties


@frozen
class ComparedRun:
    """Comparison of one run with the baseline by one measure; see ``rows`` of `RunComparison`."""

    run: str
    measure: str
    mean: float
    baseline_mean: float
    paired: PairedTests
    holm: dict[str, float | None] = field(factory=dict)
    bonferroni: dict[str, float | None] = field(factory=dict)
    left_out: tuple[str, ...] = field(default=(), repr=False)


@frozen
class RunComparison:
    """The results of `compare_runs`.

    Parameters
    ----------
    baseline : name of the baseline.
    rows : the comparisons, by run and then by measure. Each has ``run``, ``measure``, ``mean``, ``baseline_mean`` and
        the tests ``paired`` (`structsvm.evaluation.significance.PairedTests`, run minus baseline). ``holm`` and
        ``bonferroni`` are corrected p-values by test (None if the test is undefined). ``left_out`` has the topics with
        a value for the run only or the baseline only.
    confidence_level, n_resamples, random_state : see `compare_runs`.
    of_models : True if models are compared, for the texts of the table.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> from structsvm.evaluation import compare_runs
    >>> qrels = Qrels.from_grades([1, 2, 3], ["a"] * 3, [1] * 3)
    >>> old = Run.from_scores("old", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [1, 2, 1, 2, 2, 1])
    >>> new = Run.from_scores("new", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [2, 1, 2, 1, 2, 1])
    >>> comparison = compare_runs([new], qrels, baseline=old, measures=["map", "p@1"], n_resamples=1000)
    >>> [(row.measure, round(row.paired.difference, 3), row.holm["wilcoxon"]) for row in comparison.rows]
    [('map', 0.333, 1.0), ('p@1', 0.667, 1.0)]
    >>> comparison.table().title
    'Against old'
    """

    baseline: str
    rows: tuple[ComparedRun, ...] = field(repr=False)
    confidence_level: float
    n_resamples: int
    random_state: int
    of_models: bool = field(default=False, repr=False)

    def table(self) -> Table:
        """Return the comparison as a table: ``str(table)`` is its text, ``table.to_csv()`` has all digits."""
        records = [self._record(row) for row in self.rows]
        level = f"{100 * self.confidence_level:g}%"
        columns = [
            Column.text("model" if self.of_models else "run", "run"),
            Column.text("measure", "measure"),
            Column.number(self._queries, "topics"),
            Column.number("mean", "mean", ".4f"),
            Column.number("baseline", "baseline_mean", ".4f"),
            *paired_columns(level),
            holm_column(),
        ]
        return Table(f"Against {self.baseline}", tuple(columns), (tuple(records),), self._notes(level))

    @property
    def _queries(self) -> str:
        return "queries" if self.of_models else "topics"

    def _record(self, row: ComparedRun) -> Record:
        return {
            "run": row.run,
            "baseline": self.baseline,
            "measure": row.measure,
            "topics": row.paired.queries,
            "mean": row.mean,
            "baseline_mean": row.baseline_mean,
            **paired_record(row.paired),
            **{f"holm_{test}": p for test, p in row.holm.items()},
            **{f"bonferroni_{test}": p for test, p in row.bonferroni.items()},
        }

    def _notes(self, level: str) -> tuple[str, ...]:
        topics, topic = (self._queries, "query" if self.of_models else "topic")
        notes = [
            f"Differences are {'model' if self.of_models else 'run'} minus baseline, over the {topics} of both. "
            f"{paired_note(topics, level)} {self.n_resamples:,} resamples, seed {self.random_state}. "
            f"{holm_note(len(self.rows))} CSV and JSON have it for each test, and Bonferroni's. "
            f"-: no variance, or only one {topic}."
        ]
        for run, alone in {row.run: row.left_out for row in reversed(self.rows) if row.left_out}.items():
            notes.append(
                f"{run}: the comparison leaves out {counted(len(alone), 'topic')} that only this run or only the "
                f"baseline has ({first_of(alone)})."
            )
        return tuple(notes)


def compare_runs(
    runs: Iterable[RunLike],
    qrels: QrelsLike,
    baseline: RunLike | str,
    measures: Iterable[Measure | str] = ("map",),
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
    ties: Ties = "trec",
    all_topics: bool = False,
) -> RunComparison:
    """Compare runs with a baseline, topic by topic.

    Each run is compared over the topics for which it and the baseline have a value. Notes of the table list the topics
    that are left out. The p-values of each test are corrected for all comparisons: runs times measures.

    Parameters
    ----------
    runs : the runs, with distinct names; or data frames or dictionaries (`Run.from_frame`, `Run.from_dict`),
        named run 1, run 2, ...
    qrels : the judgments, or a data frame or dictionary of them (`Qrels.from_frame`, `Qrels.from_dict`).
    baseline : a run, a data frame or dictionary of one, or the name of one of `runs`.
    measures : measures or their names; each must be a mean over topics.
    confidence_level : level of the intervals, between 0 and 1.
    n_resamples : number of resamples of the randomization test, at least 100.
    random_state : seed of the resamples; every comparison uses the same random numbers.
    callback : called with the name of each run before its comparison.
    ties, all_topics : as in `rank_run`.

    Raises
    ------
    InputError : only the baseline is given, two runs have the same name, a run has no judged topic or no topic in
        common with the baseline, or a measure is not a mean.
    UnknownNameError : no measure has this name.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> qrels = Qrels.from_grades([1, 2, 3], ["a", "a", "a"], [1, 1, 1])
    >>> old = Run.from_scores("old", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [1, 2, 1, 2, 1, 2])
    >>> new = Run.from_scores("new", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [2, 1, 2, 1, 1, 2])
    >>> (row,) = compare_runs([new], qrels, baseline=old).rows
    >>> row.run, round(row.paired.difference, 3), row.paired.wins, row.paired.p_values["wilcoxon"]
    ('new', 0.333, 2, 0.5)
    """
    qrels = as_qrels(qrels)
    asked = as_list("runs", runs, "a list of runs")
    compared = as_runs(asked)
    if not isinstance(baseline, str):
        same = [run for run, original in zip(compared, asked, strict=True) if original is baseline]
        reference = same[0] if same else as_run("baseline", baseline, "baseline")
        compared = compared if same else [reference, *compared]
        baseline = reference.name
    names = [run.name for run in compared]
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"two runs are named {quoted(twice)}: rename one, or leave it out")
    lists = {run.name: rank_run(run, qrels, ties=ties, all_topics=all_topics) for run in compared}
    settings: Any = {"confidence_level": confidence_level, "n_resamples": n_resamples, "random_state": random_state}
    return compare_lists(lists, baseline, measures, callback=callback, **settings)


def compare_lists(
    lists: Mapping[str, RankedLists],
    baseline: str,
    measures: Iterable[Measure | str] = ("map",),
    *,
    confidence_level: float = 0.95,
    n_resamples: int = 10_000,
    random_state: int = 0,
    callback: Callable[[str], None] | None = None,
    of_models: bool = False,
) -> RunComparison:
    """Compare rankings by name with one of them; see `compare_runs`."""
    measured = _as_measures(measures)
    if baseline not in lists:
        raise InputError(
            f"the baseline {quoted(baseline)} is not among the runs: {', '.join(map(quoted, lists)) or 'none'}"
        )
    if len(lists) < 2:
        kind = "model" if of_models else "run"
        raise InputError(f"the baseline {quoted(baseline)} is the only {kind}: give another {kind} to compare with it")
    require_number("confidence_level", confidence_level, above=0.0)
    settings: Any = {"confidence_level": confidence_level, "n_resamples": n_resamples, "random_state": random_state}
    base = [measure.of(lists[baseline]) for measure in measured]
    rows: list[ComparedRun] = []
    for name, ranked in lists.items():
        if name == baseline:
            continue
        if callback is not None:
            callback(name)
        for measure, (ids, values) in zip(measured, base, strict=True):
            other = measure.of(ranked)
            _, of_base, of_own = np.intersect1d(ids, other.ids, return_indices=True)
            if not len(of_own):
                raise InputError(
                    f"{name} and the baseline {baseline} have no common topic with a value of {measure}: give runs for "
                    "the same topics"
                )
            first, second = other.values[np.sort(of_own)], values[of_base[np.argsort(of_own)]]
            tests = paired_tests(first, second, value_range=measure.value_range, **settings)
            alone = tuple(map(str, np.setxor1d(ids, other.ids).tolist()))
            means = float(first.mean()), float(second.mean())
            rows.append(ComparedRun(name, str(measure), *means, paired=tests, left_out=alone))
    paired = [row.paired for row in rows]
    p_values = zip(rows, corrected(paired), corrected(paired, bonferroni), strict=True)
    compared = tuple(evolve(row, holm=by_holm, bonferroni=by_bonferroni) for row, by_holm, by_bonferroni in p_values)
    return RunComparison(baseline, compared, confidence_level, n_resamples, random_state, of_models)


def _as_measures(measures: Iterable[Measure | str]) -> list[Measure]:
    resolved = checked_measures(measures)
    for measure in resolved:
        if measure.summary != "mean":
            raise InputError(f"{measure} is a {measure.summary} over topics, but tests compare means: leave it out")
    return list(dict.fromkeys(resolved))
