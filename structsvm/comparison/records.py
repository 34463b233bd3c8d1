"""The file of finished rows beside the output of a comparison."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import numpy as np
from attrs import asdict

from structsvm.comparison.combinations import Combination, Task
from structsvm.comparison.table import Row
from structsvm.problem import fingerprint
from structsvm.storage import records
from structsvm.storage.records import Header, Kind, Records, digest, versions

_ROWS = Kind(
    part=Row,
    key=lambda row: (row.loss, row.solver, row.backend or "", row.C),
    work="comparison",
    name="row",
    names="rows",
    data="data",
    whole_folder=False,
)

_NOT_FINAL = ("interrupted", "stopped", "not installed")


def combination_of(row: Row) -> Combination:
    """Return what was run."""
    return Combination(row.loss, row.solver, row.backend, row.C)


def final(row: Row) -> bool:
    """Say whether a combination need not be run again: nothing that can be mended ended it."""
    return row.status not in _NOT_FINAL


def open_rows(path: Path, tasks: Sequence[Task], limit: float | None) -> AbstractContextManager[Records[Row]]:
    """Open the rows of a comparison; see `structsvm.storage.records.open_records`.

    Parameters
    ----------
    path : of one comparison.
    tasks : all of its combinations.
    limit : seconds for each.
    """
    of_one = {task.combination.loss: task.problem for task in tasks}
    combinations = [asdict(task.combination) for task in tasks]
    settings = {
        **{name: list(dict.fromkeys(each[name] for each in combinations)) for name in combinations[0]},
        "tol": tasks[0].tol,
        "time limit": limit,
    }
    data = digest(np.ascontiguousarray(fingerprint(problem)) for problem in of_one.values())
    return records.open_records(path, Header(settings, data, versions()), _ROWS)
