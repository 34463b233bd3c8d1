"""Results in files survive writing and reading to the last bit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import asdict

from structsvm.exceptions import ModelFileError
from structsvm.foundation.storage.files import write_archive
from structsvm.registry import solvers
from structsvm.result import Result, Status
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
        "certified",
        "inference_gap",
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


@pytest.mark.parametrize("found", [0, 1, "2", None])
def test_another_format_is_not_read(result: Result, found: Any, tmp_path: Path) -> None:
    write_archive(tmp_path / "r.npz", changed(result, format=found, unknown="field"))
    with pytest.raises(
        ModelFileError, match=r"r.npz: another version .* wrote it \(format .*; this version reads format 2\)"
    ):
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
