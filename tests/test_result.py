"""Results in files: what is read is what was written, to the last bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import asdict

from structsvm.exceptions import ModelFileError
from structsvm.registry import solvers
from structsvm.result import Result, Status
from structsvm.storage.files import write_archive
from tests.small_problems import small_problem


@pytest.fixture(params=["one-slack", "n-slack"])
def result(request: pytest.FixtureRequest) -> Result:
    solved: Result = solvers.create(request.param, tol=np.float32(1e-4)).solve(small_problem("map", C=10.0))
    return solved


def test_a_round_trip_is_exact(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "r.npz")
    again = Result.load(tmp_path / "r.npz")
    for name in (
        "primal",
        "dual",
        "gap",
        "C",
        "tol",
        "status",
        "solver",
        "solver_name",
        "handovers",
        "history",
        "converged",
        "exact",
    ):
        assert getattr(again, name) == getattr(result, name), name
    for name in ("w", "fingerprint"):
        np.testing.assert_array_equal(getattr(again, name), getattr(result, name), strict=True)
    for name, value in asdict(result.cuts).items():
        np.testing.assert_array_equal(getattr(again.cuts, name), value, strict=True)
    assert len(again.cuts) == len(result.cuts)


def test_a_loaded_result_is_a_start(result: Result, tmp_path: Path) -> None:
    result.save(tmp_path / "r.npz")
    again = Result.load(tmp_path / "r.npz")
    solver = solvers.create(result.solver_name, tol=1e-4)
    assert solver.solve(small_problem("map", C=10.0), start=again).history[-1].passes == 1.0


def test_nothing_is_pickled(result: Result) -> None:
    assert all(np.asarray(array).dtype != object for array in result.arrays().values())


@pytest.mark.parametrize("status", Status)
def test_every_status_is_a_sentence_and_survives(result: Result, status: Status, tmp_path: Path) -> None:
    write_archive(tmp_path / "r.npz", changed(result, status=status.name))
    assert Result.load(tmp_path / "r.npz").status is status
    assert len(status.value.split()) > 5


def changed(result: Result, **numbers: Any) -> dict[str, Any]:
    arrays = result.arrays()
    return {**arrays, "result": np.array(json.dumps({**json.loads(str(arrays["result"])), **numbers}))}


def test_a_file_of_before_there_were_inexact_losses(result: Result, tmp_path: Path) -> None:
    arrays = result.arrays()
    numbers = json.loads(str(arrays["result"]))
    assert numbers.pop("exact") is True
    write_archive(tmp_path / "r.npz", {**arrays, "result": np.array(json.dumps(numbers))})
    assert Result.load(tmp_path / "r.npz").exact


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ("OneSlack(backend='auto', tol=0.001)", "one-slack"),
        ("NSlack()", "n-slack"),
        ("FrankWolfe(tol=1)", "frank-wolfe"),
    ],
)
def test_a_file_of_before_results_named_their_solver(result: Result, settings: str, name: str, tmp_path: Path) -> None:
    arrays = changed(result, solver=settings)
    assert arrays.pop("solver_name") == result.solver_name in ("one-slack", "n-slack")
    write_archive(tmp_path / "r.npz", arrays)
    assert Result.load(tmp_path / "r.npz").solver_name == name


def test_a_newer_version_is_told_to_upgrade(result: Result, tmp_path: Path) -> None:
    write_archive(tmp_path / "r.npz", changed(result, format=99, unknown="field"))
    with pytest.raises(ModelFileError, match="r.npz: it was written by a newer version of structural-svm: upgrade"):
        Result.load(tmp_path / "r.npz")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda arrays: arrays.pop("w"),
        lambda arrays: arrays.pop("result"),
        lambda arrays: arrays.update(result=np.array("{}")),
        lambda arrays: arrays.update(result=np.array("[]")),
        lambda arrays: arrays.update(result=np.array("3")),
        lambda arrays: arrays.update(result=np.array("not json")),
        lambda arrays: arrays.update(result=np.array(str(arrays["result"]).replace("CONVERGED", "HAPPY"))),
        lambda arrays: arrays.update(result=np.array(str(arrays["result"]).replace('"C"', '"D"'))),
    ],
)
def test_files_of_another_kind(result: Result, spoil: Any, tmp_path: Path) -> None:
    arrays = result.arrays()
    spoil(arrays)
    write_archive(tmp_path / "r.npz", arrays)
    with pytest.raises(ModelFileError, match="r.npz is not a file of this kind"):
        Result.load(tmp_path / "r.npz")


def test_repr_is_short(result: Result) -> None:
    assert len(repr(result)) < 500
    assert "primal=" in repr(result)
    assert "gap" in result.status.value


def test_a_pickle_of_before_results_named_their_solver_is_read(result: Result, tmp_path: Path) -> None:
    state = {name: value for name, value in result.__getstate__().items() if name != "_solver_name"}
    old = Result.__new__(Result)
    old.__setstate__(state)
    assert old.solver_name
    old.save(tmp_path / "result.npz")
    assert Result.load(tmp_path / "result.npz").solver_name == old.solver_name
