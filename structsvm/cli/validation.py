"""The choice of C on validation queries."""

import math
from typing import TYPE_CHECKING

import click
from attrs import evolve

from structsvm.cli.console import note, print_table
from structsvm.cli.data import Columns, read_as_wide

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from structsvm import Ranker
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


def interrupted(rankers: "Sequence[Ranker]", grid: "Sequence[float]") -> bool:
    """Say whether Ctrl-C ended a path over a grid, at the last of these rankers or after it."""
    from structsvm.result import Status

    return len(rankers) < len(grid) or rankers[-1].result_.status is Status.INTERRUPTED


def read_judges(
    paths: "Sequence[Path]", known: int, measure: "Measure", columns: Columns, names: tuple[str, ...] | None
) -> "RankingData":
    """Read the validation queries.

    Parameters
    ----------
    paths : their files.
    known : number of features that are trained on; those beyond the last one in the files are 0.
    measure : what is to be compared on them.
    columns : what is in the files.
    names : the names of the features that are trained on; None without.

    Raises
    ------
    InputError : when the files cannot be read, have other features, or the measure has no value on them.
    """
    import numpy as np

    from structsvm.exceptions import InputError
    from structsvm.metrics import rank_lists

    beyond = f"there is a feature beyond the {known} of the training files"
    judges = read_as_wide(paths, known, beyond, names, columns=evolve(columns, groups=()))
    if np.isnan(measure.values(rank_lists(np.zeros(len(judges.y)), judges.y, judges.qid))).all():
        raise InputError(
            f"--validation {', '.join(map(str, paths))} cannot choose among --C-grid: {measure} has a value for none "
            "of its queries, such as where no document is relevant. Check the labels, or name other queries"
        )
    return judges


def choose(
    rankers: "Sequence[Ranker]", grid: "Sequence[float]", validation: "RankingData", measure: "Measure", *, quiet: bool
) -> "Ranker":
    """Return the ranker that does best on validation queries, the one of the smallest C among equals.

    Parameters
    ----------
    rankers : in ascending order of C.
    grid : the values of C that were to be tried.
    validation : the queries.
    measure : what is compared.
    quiet : False prints a table of all of them, and a note where the best is at an end of the grid.
    """
    from structsvm.protocols.pick import which_end

    scores = [
        measure.mean(ranker.predict(validation.X, qid=validation.qid), validation.y, validation.qid)
        for ranker in rankers
    ]
    best = scores.index(max(scores))
    if not quiet:
        rows = [
            [f"{ranker.C:g}", f"{score:.4f}", f"{ranker.result_.gap / ranker.C:.1e}", "chosen" if k == best else ""]
            for k, (ranker, score) in enumerate(zip(rankers, scores, strict=True))
        ]
        gap = "certified gap" if all(ranker.result_.exact for ranker in rankers) else "estimated gap"
        print_table(["C", f"validation {measure}", gap, ""], rows)
        end = "" if interrupted(rankers, grid) else which_end(scores, best)
        if end:
            note(
                f"validation picked the {end} value that was tried, C = {rankers[best].C:g}; a wider --C-grid may do "
                "better"
            )
    return rankers[best]
