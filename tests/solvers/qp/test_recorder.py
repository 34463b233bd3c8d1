"""Files of the programs of a fit."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from attrs import astuple, evolve, field, frozen

from structsvm.exceptions import InputError, ModelFileError
from structsvm.solvers import NSlack, OneSlack
from structsvm.solvers.qp import (
    ActiveSet,
    Attempt,
    DualQP,
    GeneralBackend,
    QPBackend,
    QPSolution,
    Recorder,
    load_programs,
)
from structsvm.solvers.qp.recorder import _extends
from structsvm.testing import check_backend
from tests.slow import slow
from tests.small_problems import small_problem


@frozen
class Witness(QPBackend):
    """The built-in backend with a list of its programs."""

    name: ClassVar[str] = "witness"
    programs: list[DualQP] = field(factory=list)

    def solve(self, qp: DualQP, start: QPSolution | None = None) -> QPSolution:
        self.programs.append(evolve(qp, H=qp.H.copy(), b=qp.b.copy(), group=qp.group.copy()))
        return ActiveSet().solve(qp, start)


@pytest.mark.parametrize(
    "solver",
    [OneSlack(tol=1e-4, max_idle=2), *slow(NSlack(tol=1e-4, max_idle=3, batch=2))],
)
@pytest.mark.parametrize("bounds", [None, (0.0, None)])
def test_files_have_all_programs_of_a_fit_and_their_optima(solver: Any, bounds: Any, tmp_path: Path) -> None:
    problem, witness = small_problem("map", C=1000.0), Witness()
    if bounds:
        problem = problem.regularized(bounds=bounds)
    with Recorder(tmp_path / "new" / "folder", witness) as recorder:
        assert evolve(solver, backend=recorder).solve(problem).converged
    paths = sorted(recorder.folder.iterdir())
    sequences = [load_programs(path) for path in paths]
    assert not any(_extends(after[0], before[-1]) for before, after in pairwise(sequences))
    programs = [qp for sequence in sequences for qp in sequence]
    for qp, expected in zip(programs, witness.programs, strict=True):
        assert all(map(np.array_equal, astuple(qp, recurse=False), astuple(expected, recurse=False)))
    for path, sequence in zip(paths, sequences, strict=True):
        file = np.load(path)
        assert not file["handed_over"].any()
        check_backend(ActiveSet(), sequences=[sequence])
        for qp, a, dual, gap in zip(sequence, file["a"], file["dual"], file["gap"], strict=True):
            assert not a[qp.size :].any()
            assert qp.dual(a[: qp.size]) == pytest.approx(dual, rel=1e-12)
            assert qp.gap(a[: qp.size]) <= gap <= 1e-8 * (1.0 + dual)


@frozen
class FirstTwo(GeneralBackend):
    """Solves programs of one or two cuts, fails at three, and raises an error at more."""

    name: ClassVar[str] = "first-two"

    def attempts(self, qp: DualQP, start: QPSolution | None) -> Iterator[Attempt]:
        if qp.size > 3:
            raise ZeroDivisionError
        if qp.size < 3:
            yield Attempt(ActiveSet().solve(qp).a)


def test_programs_that_a_backend_did_not_solve_are_marked(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Recorder(tmp_path, FirstTwo()) as recorder:
        OneSlack(backend=recorder).solve(small_problem("map", C=1000.0))
    file = np.load(tmp_path / "0000.npz")
    assert file["sizes"].tolist() == [1, 3, 5]
    assert file["handed_over"].tolist() == [False, True, True]


def test_a_folder_with_files_is_an_error_and_stays(tmp_path: Path) -> None:
    (tmp_path / "0000.npz").write_text("a thesis")
    with pytest.raises(InputError, match="is not empty: choose another folder"), Recorder(tmp_path):
        pass
    assert (tmp_path / "0000.npz").read_text() == "a thesis"


def test_a_recorder_outside_of_a_with_statement_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="use the Recorder in a with statement"):
        OneSlack(backend=Recorder(tmp_path)).solve(small_problem("map"))


def test_a_folder_that_cannot_be_created_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("a thesis")
    with pytest.raises(InputError, match="cannot be created"), Recorder(tmp_path / "file"):
        pass


def test_other_files_are_an_error(tmp_path: Path) -> None:
    small = tmp_path / "result.npz"
    OneSlack().solve(small_problem("map")).save(small)
    with pytest.raises(ModelFileError, match=r"result.npz is not a file of this kind: 'H' is missing"):
        load_programs(small)
