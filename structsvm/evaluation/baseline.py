"""Runs compared with a baseline, measure by measure."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from attrs import field, frozen

from structsvm.data import Qrels, Run
from structsvm.evaluation.paired_columns import TESTS, TESTS_SAID, p_value, paired_columns, paired_record
from structsvm.evaluation.runs import rank_run
from structsvm.exceptions import InputError, quoted
from structsvm.metrics import Measure, RankedLists
from structsvm.registry import measures as registered
from structsvm.settings import as_list, repeated, require_kind
from structsvm.significance import PairedTests, bonferroni, holm, paired_tests
from structsvm.tables import Column, Record, Table

_SHOWN = 5
"""Topics that a note names."""


@frozen
class ComparedRun:
    """One run against the baseline, by one measure.

    Parameters
    ----------
    run : name of the run.
    measure : name of the measure.
    mean, baseline_mean : means of the run and of the baseline, over the topics that both have a value for.
    paired : difference, run less baseline, and its tests, over the same topics.
    holm, bonferroni : corrected p-values by test, ``"t"``, ``"wilcoxon"`` and ``"randomisation"``; None where the
        test has no p-value.
    left_out : topics that only one of the two has a value for.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> from structsvm.evaluation import compare_runs
    >>> qrels = Qrels.from_grades([1, 2, 3], ["a"] * 3, [1] * 3)
    >>> old = Run.from_scores("old", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [1, 2, 1, 2, 2, 1])
    >>> new = Run.from_scores("new", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [2, 1, 2, 1, 2, 1])
    >>> (row,) = compare_runs([new], qrels, baseline=old, resamples=1000).rows
    >>> row.measure, row.mean, round(row.baseline_mean, 3), row.holm["wilcoxon"]
    ('map', 1.0, 0.667, 0.5)
    """

    run: str
    measure: str
    mean: float
    baseline_mean: float
    paired: PairedTests
    holm: dict[str, float | None]
    bonferroni: dict[str, float | None]
    left_out: tuple[str, ...] = field(repr=False)


@frozen
class RunComparison:
    """The results of `compare_runs`.

    Parameters
    ----------
    baseline : name of the run that the others are compared with.
    rows : run after run, in each measure after measure.
    confidence, resamples, seed : see `compare_runs`.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> from structsvm.evaluation import compare_runs
    >>> qrels = Qrels.from_grades([1, 2, 3], ["a"] * 3, [1] * 3)
    >>> old = Run.from_scores("old", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [1, 2, 1, 2, 2, 1])
    >>> new = Run.from_scores("new", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [2, 1, 2, 1, 2, 1])
    >>> comparison = compare_runs([new], qrels, baseline=old, measures=["map", "p@1"], resamples=1000)
    >>> [(row.run, row.measure, round(row.paired.difference, 3)) for row in comparison.rows]
    [('new', 'map', 0.333), ('new', 'p@1', 0.667)]
    >>> table = comparison.table()
    >>> table.title, [column.heading for column in table.columns[:5]]
    ('Against old', ['run', 'measure', 'topics', 'mean', 'baseline'])
    """

    baseline: str
    rows: tuple[ComparedRun, ...] = field(repr=False)
    confidence: float
    resamples: int
    seed: int

    def table(self) -> Table:
        """Return the comparison as a table, for `structsvm.tables` to show or write."""
        records = [self._record(row) for row in self.rows]
        level = f"{100 * self.confidence:g}%"
        columns = [
            Column.text("run", "run"),
            Column.text("measure", "measure"),
            Column.number("topics", "topics"),
            Column.number("mean", "mean", ".4f"),
            Column.number("baseline", "baseline_mean", ".4f"),
            *paired_columns(level),
            *(Column(f"Holm {short}", p_value(f"holm_{test}")) for test, short in TESTS.items()),
            *(Column(f"Bonf. {short}", p_value(f"bonferroni_{test}")) for test, short in TESTS.items()),
        ]
        return Table(f"Against {self.baseline}", tuple(columns), (tuple(records),), self._notes(level))

    def _record(self, row: ComparedRun) -> Record:
        return {
            "run": row.run,
            "baseline": self.baseline,
            "measure": row.measure,
            "topics": row.paired.queries,
            "mean": row.mean,
            "baseline_mean": row.baseline_mean,
            **paired_record(row.paired),
            **{f"holm_{test}": row.holm[test] for test in TESTS},
            **{f"bonferroni_{test}": row.bonferroni[test] for test in TESTS},
        }

    def _notes(self, level: str) -> tuple[str, ...]:
        notes = [
            f"Differences are run less baseline, over the topics of both. {level} interval: bootstrap (BCa) over "
            f"topics. {TESTS_SAID.format(queries='topics')} {self.resamples:,} resamples, seed {self.seed}. Holm and "
            f"Bonferroni correct each test for the {len(self.rows)} rows of the table. -: there is no variance, or one "
            "topic only."
        ]
        for run, topics in {row.run: row.left_out for row in reversed(self.rows) if row.left_out}.items():
            named = ", ".join(topics[:_SHOWN]) + (", ..." if len(topics) > _SHOWN else "")
            notes.append(
                f"{run}: topics that only it or only the baseline has are left out of the comparison, {len(topics)} "
                f"in all ({named})."
            )
        return tuple(notes)


def compare_runs(
    runs: Iterable[Run],
    qrels: Qrels,
    baseline: Run | str,
    measures: Iterable[Measure | str] = ("map",),
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    callback: Callable[[str], None] | None = None,
) -> RunComparison:
    """Compare runs with a baseline, topic by topic.

    Each run is compared over the topics for which it and the baseline have a value; the notes of the table name
    the others. p-values are corrected for all comparisons that are made, runs times measures, test by test.

    Parameters
    ----------
    runs : the runs, each of a name of its own.
    qrels : the judgments.
    baseline : a run, or the name of one of `runs`. It is not compared with itself.
    measures : measures or their names, whose figure is a mean over topics.
    confidence : level of the intervals, between 0 and 1.
    resamples : number of resamples of the bootstrap and of the randomisation test, at least 100.
    seed : seed of both. Each comparison draws the same random numbers, whatever others there are.
    callback : is shown the name of each run before it is compared.

    Raises
    ------
    InputError : there is nothing to compare, two runs have the same name, the baseline is not there, a run has no
        judged topic or none in common with the baseline, or a measure is not a mean.
    UnknownNameError : there is no measure of a name.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> qrels = Qrels.from_grades([1, 2, 3], ["a", "a", "a"], [1, 1, 1])
    >>> old = Run.from_scores("old", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [1, 2, 1, 2, 1, 2])
    >>> new = Run.from_scores("new", [1, 1, 2, 2, 3, 3], ["a", "b"] * 3, [2, 1, 2, 1, 1, 2])
    >>> (row,) = compare_runs([new], qrels, baseline=old).rows
    >>> row.run, round(row.paired.difference, 3), row.paired.wins, row.paired.wilcoxon
    ('new', 0.333, 2, 0.5)
    """
    require_kind("qrels", qrels, Qrels, "Qrels, such as load_qrels returns")
    given = as_list("runs", runs, "a list of Run")
    for run in given:
        require_kind("a run", run, Run, "a Run, such as load_run returns")
    require_kind("baseline", baseline, Run | str, "a Run, or the name of one of the runs")
    if isinstance(baseline, Run) and not any(run is baseline for run in given):
        given = [baseline, *given]
    names = [run.name for run in given]
    twice = repeated(names)
    if twice is not None:
        raise InputError(f"two runs are named {quoted(twice)}: give one another name, or leave it out")
    lists = {run.name: rank_run(run, qrels) for run in given}
    return compare_lists(
        lists,
        baseline.name if isinstance(baseline, Run) else baseline,
        measures,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
        callback=callback,
    )


def compare_lists(
    lists: Mapping[str, RankedLists],
    baseline: str,
    measures: Iterable[Measure | str] = ("map",),
    *,
    confidence: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    callback: Callable[[str], None] | None = None,
) -> RunComparison:
    """Compare rankings that `rank_run` or `structsvm.metrics.rank_lists` returned; see `compare_runs`.

    Parameters
    ----------
    lists : rankings by name.
    baseline : the name of one.
    measures, confidence, resamples, seed, callback : see `compare_runs`.

    Raises
    ------
    InputError : as `compare_runs`.

    Examples
    --------
    >>> from structsvm.data import Qrels, Run
    >>> from structsvm.evaluation import compare_lists, rank_run
    >>> qrels = Qrels.from_grades([1, 1, 2, 2], list("abab"), [1, 0, 1, 0])
    >>> better = Run.from_scores("better", [1, 1, 2, 2], list("abab"), [2.0, 1.0, 2.0, 1.0])
    >>> worse = Run.from_scores("worse", [1, 1, 2, 2], list("abab"), [1.0, 2.0, 2.0, 1.0])
    >>> found = compare_lists({run.name: rank_run(run, qrels) for run in (better, worse)}, baseline="worse")
    >>> [(row.run, row.mean) for row in found.rows]
    [('better', 1.0)]
    """
    require_kind("lists", lists, Mapping, "a mapping from names to RankedLists")
    chosen = _as_measures(measures)
    require_kind("baseline", baseline, str, "the name of one of the lists")
    if baseline not in lists:
        raise InputError(
            f"the baseline {quoted(baseline)} is not among the runs: {', '.join(map(quoted, lists)) or 'none'}"
        )
    if len(lists) < 2:
        raise InputError(f"there is nothing to compare with the baseline {quoted(baseline)}: give another run")
    base = [measure.of(lists[baseline]) for measure in chosen]
    rows = []
    for name, ranked in lists.items():
        if name == baseline:
            continue
        if callback is not None:
            callback(name)
        for measure, (ids, values) in zip(chosen, base, strict=True):
            own = measure.of(ranked)
            _, of_base, of_own = np.intersect1d(ids, own.ids, return_indices=True)
            if not len(of_own):
                raise InputError(
                    f"{name} and the baseline {baseline} have no topic in common with a value of {measure}: "
                    "there is nothing to compare"
                )
            first, second = own.values[np.sort(of_own)], values[of_base[np.argsort(of_own)]]
            found = paired_tests(first, second, confidence=confidence, resamples=resamples, seed=seed)
            alone = tuple(map(str, np.setxor1d(ids, own.ids).tolist()))
            rows.append((name, str(measure), float(first.mean()), float(second.mean()), found, alone))
    corrected = [
        {test: correct([getattr(row[4], test) for row in rows]) for test in TESTS} for correct in (holm, bonferroni)
    ]
    stepped, simple = ([{test: of[test][place] for test in TESTS} for place in range(len(rows))] for of in corrected)
    compared = [
        ComparedRun(*row[:5], one, other, row[5]) for row, one, other in zip(rows, stepped, simple, strict=True)
    ]
    return RunComparison(baseline, tuple(compared), confidence, resamples, seed)


def _as_measures(measures: Iterable[Measure | str]) -> list[Measure]:
    given = [measures] if isinstance(measures, str | Measure) else as_list("measures", measures, "a list of measures")
    if not given:
        raise InputError("the list of measures is empty")
    chosen: list[Measure] = [registered.create(each) for each in given]
    for measure in chosen:
        if measure.summary != "mean":
            raise InputError(
                f"{measure} is a {measure.summary} over topics, and differences are tested of means: leave it out"
            )
    return list(dict.fromkeys(chosen))
