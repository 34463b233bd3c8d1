"""The choice of C on validation queries."""

import math
from inspect import signature
from typing import TYPE_CHECKING, Any

import click
from attrs import evolve

from structsvm.cli.console import counted, note, print_table
from structsvm.cli.data import Columns, read_as_wide

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from structsvm.data import RankingData
    from structsvm.metrics import Measure

_PER_DECADE = 2
_MOST_VALUES = 100


def as_Cs(_ctx: click.Context, _param: click.Parameter, text: str | None) -> tuple[float, ...] | None:
    """Return the values of C that "low:high" or "low:high:count" stands for: the callback of an option."""
    if text is None:
        return None
    try:
        low, high, *count = text.split(":")
        first, last = float(low), float(high)
        decades = math.log10(last / first)
        steps = int(count[0]) - 1 if len(count) == 1 else round(_PER_DECADE * decades)
        if not (0.0 < first < last < math.inf and len(count) <= 1 and 1 <= steps < _MOST_VALUES):
            raise ValueError
    except (ArithmeticError, ValueError):
        raise click.BadParameter(
            f"{text!r} is not low:high or low:high:count, with 0 < low < high and 2 to {_MOST_VALUES} values, "
            "as in 0.01:1000 (two values a decade)"
        ) from None
    return tuple(float(f"{first * 10 ** (decades * k / steps):.6g}") for k in range(steps + 1))


def interrupted(rankers: "Sequence[Any]", grid: "Sequence[float]") -> bool:
    """Say whether Ctrl-C ended a path over a grid, at the last of these rankers or after it."""
    from structsvm.result import Status

    result = getattr(rankers[-1], "result_", None)
    return len(rankers) < len(grid) or (result is not None and result.status is Status.INTERRUPTED)


def of_fold(checkpoint: "Path", number: int) -> "Path":
    """Return the checkpoint of a fold, from 1: ``fit.npz`` becomes ``fit.fold=1.npz``."""
    return checkpoint.with_name(f"{checkpoint.stem}.fold={number}{checkpoint.suffix}")


def cross_validated(
    data: "RankingData",
    folds: int,
    seed: int,
    grid: "Sequence[float]",
    measures: "Mapping[str, Measure]",
    path: "Callable[[RankingData, int], Sequence[Any]]",
    *,
    quiet: bool,
) -> tuple[float, str]:
    """Return the value of C that does best on held-out queries, the smallest among equals, and this in words.

    Parameters
    ----------
    data : the queries.
    folds : into how many parts of about as many queries they are parted, each of which is held out once.
    seed : which queries are in which fold: the same for the same data.
    grid : the values of C, ascending.
    measures : what is measured, by name; the first chooses.
    path : trains at all values of C on queries, of the fold of a number from 1.
    quiet : False prints a table.

    Raises
    ------
    InputError : when there are fewer queries than folds, or the measure has no value on those of a fold.
    Failure : Ctrl-C ended it; the table of the folds that were finished is printed.
    """
    import numpy as np

    from structsvm.cli.failures import Failure
    from structsvm.data import RankingData
    from structsvm.exceptions import InputError
    from structsvm.metrics import rank_lists

    ids = np.unique(data.qid)
    if len(ids) < folds:
        raise InputError(f"--folds {folds} needs as many queries, and there are {len(ids)}")
    part = np.empty(len(ids), dtype=np.int64)
    part[np.random.default_rng(seed).permutation(len(ids))] = np.arange(len(ids)) % folds
    fold_of_row = part[np.searchsorted(ids, data.qid)]
    means: dict[str, list[list[float]]] = {name: [] for name in measures}
    first = next(iter(measures))
    for number in range(folds):
        held = fold_of_row == number
        train, rest = (RankingData(data.X[rows], data.y[rows], data.qid[rows]) for rows in (~held, held))
        try:
            fitted = path(train, number + 1)
            stopped = interrupted(fitted, grid)
        except Failure:
            stopped = True
        if stopped:
            if not quiet and means[first]:
                _show_folds(grid, means, None)
            raise Failure(
                f"interrupted in fold {number + 1} of {folds}: C was not chosen, and there is no model. With "
                "--checkpoint the same command goes on from there"
            )
        lists = [rank_lists(ranker.predict(rest.X, **as_queries(ranker, rest)), rest.y, rest.qid) for ranker in fitted]
        for name, measure in measures.items():
            values = [measure.of(each).values for each in lists]
            if not len(values[0]):
                raise InputError(f"{name} has a value for no query of fold {number + 1}: take fewer --folds")
            means[name].append([measure.over_queries(each) for each in values])
    overall = np.mean(means[first], axis=0).tolist()
    best = overall.index(max(overall))
    if not quiet:
        _show_folds(grid, means, best)
        _note_end(overall, best, grid[best])
    each = ", ".join(f"{fold[best]:.4f}" for fold in means[first])
    said = f"{_picked(grid, best)}: {first} {overall[best]:.4f} over {folds} folds, seed {seed} ({each})"
    return float(grid[best]), said


def _show_folds(grid: "Sequence[float]", means: "Mapping[str, list[list[float]]]", best: int | None) -> None:
    """Print the mean of each measure over the folds at each C, and the first measure in each fold."""
    folds = len(next(iter(means.values())))
    columns = ["C", *(f"{name}" for name in means), *(f"fold {number}" for number in range(1, folds + 1)), ""]
    first = next(iter(means.values()))
    rows = [
        [
            f"{C:g}",
            *(f"{sum(fold[k] for fold in each) / folds:.4f}" for each in means.values()),
            *(f"{fold[k]:.4f}" for fold in first),
            "chosen" if k == best else "",
        ]
        for k, C in enumerate(grid)
    ]
    print_table(columns, rows)


def as_queries(ranker: Any, data: "RankingData") -> dict[str, Any]:
    """Return the queries of rows as an argument of ``predict``, where that takes them."""
    return {"qid": data.qid} if "qid" in signature(ranker.predict).parameters else {}


def _picked(grid: "Sequence[float]", best: int) -> str:
    return f"C = {grid[best]:g} of {len(grid)} values from {grid[0]:g} to {grid[-1]:g}"


def _note_end(scores: "Sequence[float]", best: int, C: float) -> None:
    from structsvm.protocols.pick import which_end

    end = which_end(scores, best)
    if end:
        note(f"validation picked the {end} value that was tried, C = {C:g}; a wider --C-grid may do better")


def read_judges(
    paths: "Sequence[Path]",
    known: int,
    measure: "Measure",
    columns: Columns,
    names: tuple[str, ...] | None,
    *,
    sparse: bool | None = None,
) -> "RankingData":
    """Read the validation queries.

    Parameters
    ----------
    paths : their files.
    known : number of features that are trained on; those beyond the last one in the files are 0.
    measure : what is to be compared on them.
    columns : what is in the files.
    names : the names of the features that are trained on; None without.
    sparse : as in `structsvm.data.load_letor`.

    Raises
    ------
    InputError : when the files cannot be read, have other features, or the measure has no value on them.
    """
    import numpy as np

    from structsvm.exceptions import InputError
    from structsvm.metrics import rank_lists

    beyond = f"there is a feature beyond the {known} of the training files"
    judges = read_as_wide(paths, known, beyond, names, columns=evolve(columns, groups=()), sparse=sparse)
    if np.isnan(measure.values(rank_lists(np.zeros(len(judges.y)), judges.y, judges.qid))).all():
        raise InputError(
            f"--validation {', '.join(map(str, paths))} cannot choose among --C-grid: {measure} has a value for none "
            "of its queries, such as where no document is relevant. Check the labels, or name other queries"
        )
    return judges


def choose(
    rankers: "Sequence[Any]",
    grid: "Sequence[float]",
    validation: "RankingData",
    measures: "Mapping[str, Measure]",
    *,
    quiet: bool,
) -> Any:
    """Return the ranker that does best on validation queries, the one of the smallest C among equals; it knows this.

    Parameters
    ----------
    rankers : in ascending order of C.
    grid : the values of C that were to be tried.
    validation : the queries.
    measures : what is compared, by name; the first chooses.
    quiet : False prints a table of all of them, and a note where the best is at an end of the grid.
    """
    import numpy as np

    predicted = [ranker.predict(validation.X, **as_queries(ranker, validation)) for ranker in rankers]
    values = {
        name: [measure.mean(scores, validation.y, validation.qid) for scores in predicted]
        for name, measure in measures.items()
    }
    scores = next(iter(values.values()))
    best = scores.index(max(scores))
    if not quiet:
        certified = all(hasattr(ranker, "result_") for ranker in rankers)
        rows = [
            [
                f"{ranker.C:g}",
                *(f"{each[k]:.4f}" for each in values.values()),
                *([f"{ranker.result_.gap / (ranker.C * getattr(ranker, 'gap_unit_', 1.0)):.1e}"] if certified else []),
                "chosen" if k == best else "",
            ]
            for k, ranker in enumerate(rankers)
        ]
        exact = certified and all(ranker.result_.exact for ranker in rankers)
        gap = ["certified gap" if exact else "estimated gap"] if certified else []
        print_table(["C", *(f"validation {name}" for name in values), *gap, ""], rows)
        if not interrupted(rankers, grid):
            _note_end(scores, best, rankers[best].C)
    held_out = counted(len(np.unique(validation.qid)), "validation query", "validation queries")
    tried = [ranker.C for ranker in rankers]
    note_choice(rankers[best], f"{_picked(tried, best)}: {next(iter(values))} {scores[best]:.4f} on {held_out}")
    return rankers[best]


def note_choice(ranker: Any, said: str) -> None:
    """Write into the record of training how a setting was chosen."""
    ranker.trained_ = evolve(ranker.trained_, choice=said)
