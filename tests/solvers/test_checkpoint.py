"""A fit that ends in any way resumes from its checkpoint, and reaches the bounds of an undisturbed fit."""

import subprocess
import sys
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attrs import evolve
from scipy.sparse import csr_matrix

from structsvm.exceptions import CheckpointWarning, InputError, ModelFileError
from structsvm.losses import FBeta, NDCGLoss
from structsvm.problem import Problem
from structsvm.registry import solvers
from structsvm.result import Result, Status, Step
from structsvm.solvers import Auto, Checkpoint, CheckpointWriter, FrankWolfe, NSlack, OneSlack, Solver
from structsvm.solvers import auto as auto_module
from structsvm.solvers import checkpoint as checkpoint_module
from tests.slow import slow
from tests.small_problems import PlainROCArea, ranking_arrays, small_problem
from tests.solvers.test_inexact import GreedyPython

SOLVERS: dict[str, Solver] = {
    "one-slack": OneSlack(tol=1e-5),
    "textbook": OneSlack(tol=1e-3, line_search=False),
    "n-slack": NSlack(tol=1e-5),
    "frank-wolfe": FrankWolfe(tol=1e-5),
    "auto": Auto(tol=1e-5),
}
each_solver = pytest.mark.parametrize("name", SOLVERS)


def problem_of(storage: str = "dense", C: float = 30.0, seed: int = 0, loss: Any = None) -> Problem:
    X, y, qid = ranking_arrays(seed, queries=8 if storage == "python loss" else 40, documents=8, d=12)
    kinds: dict[str, Callable[[Any], Any]] = {"float32": np.float32, "sparse": csr_matrix}
    loss = loss or (PlainROCArea() if storage == "python loss" else "map")
    return Problem.from_queries(kinds.get(storage, np.asarray)(X), y, qid, loss=loss, C=C)


class Killed(Exception):
    pass


def killed_after(steps: int) -> Callable[[Step], None]:
    def callback(step: Step) -> None:
        nonlocal steps
        steps -= 1
        if steps < 0:
            raise Killed

    return callback


def solved_in_lives(solver: Solver, problem: Problem, file: Path, longest: int = 5) -> tuple[Result, list[Result]]:
    """Kill the solver after a few iterations again and again; return its result and the checkpoint of each kill."""
    random, left = np.random.default_rng(0), list[Result]()
    while len(left) < 200:
        try:
            callback = killed_after(int(random.integers(1, longest + 1)))
            return solver.solve(problem, callback=callback, checkpoint=Checkpoint(file, every=0)), left
        except Killed:
            left.append(Result.load(file))
    raise AssertionError("it does not get on")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "fit.npz"


@pytest.mark.parametrize(
    ("name", "storage"),
    [
        *((name, "dense") for name in SOLVERS),
        *slow(*product(["one-slack", "n-slack", "frank-wolfe"], ["sparse", "float32", "python loss"])),
    ],
)
def test_killed_again_and_again_it_ends_as_if_undisturbed(
    name: str, storage: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto_module, "PATIENCE", 3)
    solver, problem = SOLVERS[name], problem_of(storage)
    cold = solver.solve(problem)
    result, left = solved_in_lives(solver, problem, file)
    assert left
    assert cold.status is result.status is Status.CONVERGED
    assert result.dual <= cold.primal
    assert cold.dual <= result.primal
    assert {one.status for one in left} == {Status.UNFINISHED}
    for one in left:
        assert one.dual <= cold.primal * (1 + 1e-12)
        assert one.primal >= cold.dual * (1 - 1e-12)
    steps = result.history
    assert [step.iteration for step in steps] == list(range(len(steps)))
    assert len(steps) <= 1.5 * len(cold.history) + 10
    for a, b in pairwise(steps):
        assert b.dual >= a.dual
        assert b.primal <= a.primal * (1 + 1e-13)
        assert b.passes > a.passes
        assert b.seconds > a.seconds
    for one in left:
        assert steps[: len(one.history)] == one.history


@each_solver
def test_a_fit_that_has_ended_ends_at_once(name: str, file: Path) -> None:
    solver, problem, seen = SOLVERS[name], problem_of(), list[Step]()
    result = solver.solve(problem, checkpoint=file)
    content = file.read_bytes()
    again = solver.solve(problem, callback=seen.append, checkpoint=file)
    assert again.history == result.history
    assert seen == [result.history[-1]]
    np.testing.assert_array_equal(again.w, result.w)
    assert (again.status, again.primal) == (result.status, result.primal)
    assert again.dual >= result.dual
    assert file.read_bytes() == content


@pytest.mark.parametrize("name", ["one-slack", "n-slack", "frank-wolfe", "auto"])
def test_the_limit_of_iterations_counts_all_lives(name: str, file: Path) -> None:
    solver: Any = solvers.create(name, tol=1e-9, max_iter=4)
    problem = problem_of(C=1000.0)
    with pytest.raises(Killed):
        solver.solve(problem, callback=killed_after(3), checkpoint=Checkpoint(file, every=0))
    for _ in range(2):
        result = solver.solve(problem, checkpoint=file)
        assert result.status is Status.ITERATION_LIMIT
        assert len(result.history) == 5
    further = evolve(solver, max_iter=6).solve(problem, checkpoint=file)
    assert further.history[:5] == result.history
    assert len(further.history) == 7
    loose = evolve(solver, tol=10.0).solve(problem, checkpoint=file)
    assert loose.status is Status.CONVERGED
    assert loose.history == further.history


@pytest.mark.parametrize("solver", [OneSlack(), NSlack(), FrankWolfe()], ids=repr)
def test_estimates_of_inexact_argmaxes_never_fall_after_a_restart(solver: Solver, file: Path) -> None:
    exact = small_problem("chain", C=30.0)
    problem = evolve(exact, loss=GreedyPython(), oracle=evolve_oracle(exact))
    result, left = solved_in_lives(solver, problem, file, 2)
    optimum = OneSlack(tol=1e-8).solve(exact).primal
    for one in (*left, result):
        assert one.dual <= optimum * (1 + 1e-9)
    for before, after in pairwise([*left, result]):
        assert after.dual >= before.dual
        if np.array_equal(before.w, after.w):
            assert after.primal >= before.primal


def evolve_oracle(problem: Problem) -> Any:
    from structsvm.problem.oracle import make_oracle
    from tests.small_problems import true_outputs

    return make_oracle(GreedyPython(states=problem.loss.states), true_outputs(problem))


@pytest.mark.parametrize("name", ["one-slack", "frank-wolfe"])
def test_ctrl_c_keeps_what_there_is(name: str, file: Path) -> None:
    def interrupt(step: Step) -> None:
        if step.iteration == 2:
            raise KeyboardInterrupt

    solver, problem = SOLVERS[name], problem_of(C=1000.0)
    result = solver.solve(problem, callback=interrupt, checkpoint=file)
    kept = Result.load(file)
    assert result.status is kept.status is Status.INTERRUPTED
    assert kept.history == result.history
    assert solver.solve(problem, checkpoint=file).converged


def test_a_second_ctrl_c_while_the_last_state_is_written_loses_nothing(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint_module, "write_archive", interrupted)
    result = OneSlack().solve(problem_of(), checkpoint=file)
    assert result.status is Status.INTERRUPTED
    assert result.converged
    assert not file.exists()


OTHERS: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("C", {"C": 31.0}, {}, r"belongs to a fit with C = 30\.0, and this fit has C = 31\.0"),
    ("loss", {"loss": NDCGLoss()}, {}, "a fit with the loss AveragePrecision, and this fit has the loss NDCG"),
    (
        "data",
        {"seed": 1},
        {},
        "belongs to a fit with other features, labels, example weights or partitions, or to a loss with other",
    ),
    ("backend", {}, {"backend": "highs"}, r"OneSlack\(backend='auto'\), and this fit has OneSlack\(backend='highs'\)"),
    ("setting", {}, {"max_idle": 7}, r"OneSlack\(max_idle=50\), and this fit has OneSlack\(max_idle=7\)"),
]


@pytest.mark.parametrize(("problem", "settings", "message"), [each[1:] for each in OTHERS], ids=[o[0] for o in OTHERS])
def test_another_fit_is_refused_and_nothing_lost(
    problem: dict[str, Any], settings: dict[str, Any], message: str, file: Path
) -> None:
    OneSlack().solve(problem_of(), checkpoint=file)
    content = file.read_bytes()
    with pytest.raises(InputError, match=rf"the checkpoint .*fit\.npz .*{message}.*: choose another file .* or delete"):
        OneSlack(**settings).solve(problem_of(**problem), checkpoint=file)
    assert file.read_bytes() == content


def test_more_that_is_refused(file: Path) -> None:
    X, y, qid = ranking_arrays(0, queries=40, documents=8, d=12)
    OneSlack().solve(problem_of(), checkpoint=file)
    content = file.read_bytes()
    fewer = Problem.from_queries(X[8:], y[8:], qid[8:], C=30.0)
    with pytest.raises(InputError, match="40 examples and 12 weights, and this fit has 39 examples and 12 weights"):
        OneSlack().solve(fewer, checkpoint=file)
    with pytest.raises(InputError, match="the solver OneSlack, and this fit has the solver NSlack"):
        NSlack().solve(problem_of(), checkpoint=file)
    weighted = Problem.from_queries(X, y, qid, C=30.0, sample_weight=1.0 + (qid == 3))
    with pytest.raises(InputError, match="example weights"):
        OneSlack().solve(weighted, checkpoint=file)
    assert file.read_bytes() == content
    one = Problem.from_queries(X, y, qid, C=30.0, loss=FBeta(1.0))
    file.unlink()
    OneSlack(max_iter=2).solve(one, checkpoint=file)
    with pytest.raises(InputError, match=r"with FBeta\(beta=1\.0\), and this fit has FBeta\(beta=2\.0\)"):
        OneSlack(max_iter=2).solve(Problem.from_queries(X, y, qid, C=30.0, loss=FBeta(2.0)), checkpoint=file)


def cut_short(content: bytes) -> bytes:
    return content[: len(content) // 2]


def damaged(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 16]) + content[middle + 1 :]


@pytest.mark.parametrize(
    "spoil",
    [cut_short, damaged, lambda content: b"", lambda content: b"1 qid:1 1:2\n"],
    ids=["cut", "bit", "none", "text"],
)
def test_damaged_checkpoints_are_errors_and_stay_unchanged(spoil: Callable[[bytes], bytes], file: Path) -> None:
    OneSlack().solve(problem_of(), checkpoint=file)
    content = spoil(file.read_bytes())
    file.write_bytes(content)
    with pytest.raises(ModelFileError, match=r"cannot resume from .*fit\.npz .*; choose another file .* or delete"):
        OneSlack().solve(problem_of(), checkpoint=file)
    assert file.read_bytes() == content


def test_a_result_that_is_no_checkpoint_is_refused(file: Path) -> None:
    OneSlack().solve(problem_of()).save(file)
    with pytest.raises(ModelFileError, match="cannot resume from .*'checkpoint' is missing"):
        OneSlack().solve(problem_of(), checkpoint=file)


@pytest.mark.parametrize(("given", "message"), [(3, "path of a file, or a Checkpoint, got 3"), ("", "is a folder")])
def test_invalid_paths_are_errors_before_the_first_iteration(given: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        OneSlack().solve(problem_of(), callback=lambda step: pytest.fail("it ran"), checkpoint=given)


@pytest.mark.parametrize("every", [-1.0, np.nan, np.inf, "a", None])
def test_bad_intervals(every: Any) -> None:
    with pytest.raises(InputError, match=r"Checkpoint\(every=...\) must be a finite number of at least 0"):
        Checkpoint("fit.npz", every=every)


class Untellable(PlainROCArea):
    """Has a fingerprint that differs each time."""


def test_a_problem_that_cannot_be_told_from_others_is_refused_before_any_work(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint_module, "fingerprint", lambda problem: np.random.default_rng().uniform(size=7))
    with pytest.raises(InputError, match="the loss Untellable or its data cannot be pickled"):
        OneSlack().solve(problem_of(loss=Untellable()), checkpoint=file)
    assert not file.exists()


class Clock:
    """A clock that only the test advances."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.mark.parametrize(("every", "expected"), [(60.0, 200.0), (500.0, 500.0), (0.0, 1.0)])
def test_writing_takes_a_hundredth_of_the_time_at_most(
    every: float, expected: float, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, written = Clock(), list[float]()
    monkeypatch.setattr(checkpoint_module, "time", clock)

    def write(*_: Any, **__: Any) -> None:
        clock.now += 2.0
        written.append(clock.now)

    monkeypatch.setattr(checkpoint_module, "write_archive", write)
    result, keeper = OneSlack().solve(small_problem("map")), CheckpointWriter.of(Checkpoint(file, every), OneSlack())
    assert keeper is not None
    while len(written) < 3:
        clock.now += 1.0
        if keeper.due():
            keeper.write(result)
    assert written[0] == max(every, 1.0) + 2.0
    assert (np.diff(written) == expected + 2.0).all()


def test_a_checkpoint_that_cannot_be_written_any_more_does_not_end_the_fit(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, calls = checkpoint_module.write_archive, list[int]()

    def full(*args: Any, **settings: Any) -> None:
        calls.append(1)
        if len(calls) > 2:
            raise InputError("fit.npz cannot be written: no space left on device")
        write(*args, **settings)

    monkeypatch.setattr(checkpoint_module, "write_archive", full)
    with pytest.warns(
        CheckpointWarning,
        match="checkpoint was not updated and keeps its previous state: fit.npz cannot be written: no space left",
    ):
        result = OneSlack(tol=1e-5).solve(problem_of(), checkpoint=Checkpoint(file, every=0))
    assert result.converged
    assert len(Result.load(file).history) == 2


def test_an_unfinished_result_is_gone_on_with_by_any_solver(file: Path, solver_name: str) -> None:
    problem = problem_of()
    with pytest.raises(Killed):
        OneSlack(tol=1e-5).solve(problem, callback=killed_after(4), checkpoint=Checkpoint(file, every=0))
    start = Result.load(file)
    result = solvers.create(solver_name, tol=1e-5).solve(problem, start=start)
    assert result.converged
    assert result.history[: len(start.history)] == start.history
    other = solvers.create(solver_name, tol=1e-5).solve(problem_of(C=5.0), start=start)
    assert other.converged
    assert other.history[0].iteration == 0


@pytest.mark.parametrize("loss", ["map", "zero_one"])
def test_auto_hands_over_without_a_break_in_the_history(loss: str, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto_module, "PATIENCE", 2)
    seen: list[Step] = []
    problem = problem_of(C=300.0, loss=loss)
    result = Auto(tol=1e-6).solve(problem, callback=seen.append)
    assert result.converged
    assert result.solver_name == "n-slack"
    assert solved_in_lives(Auto(tol=1e-6), problem, file)[0].solver_name == "n-slack"
    assert result.history == tuple(seen)
    assert [step.iteration for step in seen] == list(range(len(seen)))


SUICIDE = """
import os, signal, sys
import numpy as np
from structsvm.solvers import Checkpoint, OneSlack
from tests.solvers.test_checkpoint import problem_of

savez, calls = np.savez, []

def cut_off(file, **arrays):
    calls.append(1)
    if len(calls) == 4:
        file.write(b"half a checkpoint")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    savez(file, **arrays)

np.savez = cut_off
OneSlack(tol=1e-5).solve(problem_of(), checkpoint=Checkpoint(sys.argv[1], every=0))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGKILL")
def test_a_process_killed_while_it_writes_leaves_the_checkpoint_before(file: Path) -> None:
    done = subprocess.run([sys.executable, "-c", SUICIDE, str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    assert len(Result.load(file).history) == 3
    result = OneSlack(tol=1e-5).solve(problem_of(), checkpoint=file)
    assert result.converged
    assert result.primal == pytest.approx(OneSlack(tol=1e-5).solve(problem_of()).primal, abs=1e-5 * 30)


def test_a_file_for_each_C_beside_the_one_that_is_named() -> None:
    assert Checkpoint("a/fit.npz", every=5.0).at(0.1) == Checkpoint("a/fit.C=0.1.npz", every=5.0)
    assert Checkpoint("fit").at(100.0).path == Path("fit.C=100.0")
    assert Checkpoint("none.npz").read() is None
