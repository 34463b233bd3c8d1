"""Whose cuts hold here: equal data and losses have one fingerprint, and the smallest change gives another."""

import pickle
import subprocess
import sys
import threading
from typing import Any

import numba
import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve, field, frozen
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Result
from structsvm.features.operators import BinnedMatrix, Rows
from structsvm.foundation.compute.threads import using
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.losses import AveragePrecision, ChainHamming, Multiclass, NDCGLoss, PrecisionAtK, ROCArea
from structsvm.problem import Problem, fingerprint
from structsvm.problem.fingerprint import fingerprint_aside, same
from structsvm.problem.program import program
from structsvm.registry import solvers
from structsvm.solvers import NSlack, OneSlack
from tests.features.operators.wrapped import Wrapped
from tests.small_problems import KINDS, Kronecker, PlainROCArea, ranking_arrays, small_problem

OFFSETS = np.array([0, 3, 5, 9])

STORED = ("dense", "columns", "float32", "every other", "sparse", "binned", "intercept", "classes", "chain", "generic")
"""Kinds of operator, and of the arrays in them."""


def arrays(seed: int = 0) -> tuple[Matrix, Vector, IntVector]:
    """Features of very different scales, and of a number of digits that float32 has too."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-50, 51, (20, 3)) * np.array([1.0, 2.0**28, 2.0**-28])
    return X, np.tile([1.0, 0.0, 2.0, 0.0], 5), np.repeat(np.arange(5), 4)


def problem_of(stored: str, X: Matrix, y: Vector, qid: IntVector, weights: Vector | None = None) -> Problem:
    rows = None if weights is None else weights[qid]
    if stored == "binned":
        codes = np.clip(np.round(np.abs(X / np.array([1.0, 2.0**28, 2.0**-28]))), 0, np.diff(OFFSETS))
        return Problem.from_queries(BinnedMatrix(codes.astype(int), OFFSETS), y, qid, sample_weight=rows)
    if stored == "classes":
        classes = np.array([1.0, 0.0, 2.0, 0.0] * 5)
        row_weights = None if weights is None else np.repeat(weights, 4)
        return Problem.from_examples(X, classes, loss=Multiclass((0, 1, 2)), sample_weight=row_weights)
    if stored in ("chain", "generic"):
        xs = np.split(X, 5) if stored == "chain" else [part[0] for part in np.split(X, 5)]
        ys = [part.astype(int) for part in np.split(y, 5)] if stored == "chain" else y[:5].astype(int).tolist()
        loss: Any = ChainHamming((0, 1, 2)) if stored == "chain" else Kronecker()
        return Problem.from_examples(xs, ys, loss=loss, sample_weight=weights)
    matrix: Any = {
        "columns": np.asfortranarray(X),
        "float32": X.astype(np.float32),
        "every other": np.repeat(X, 2, axis=1)[:, ::2],
        "sparse": sp.csr_array(X),
    }.get(stored, X)
    return Problem.from_queries(matrix, y, qid, sample_weight=rows, intercept=0.7 if stored == "intercept" else 0.0)


@pytest.mark.parametrize("stored", STORED)
@settings(max_examples=15)
@given(row=st.integers(0, 19), column=st.integers(0, 2))
def test_one_entry_that_differs_shows_whatever_its_scale(stored: str, row: int, column: int) -> None:
    X, y, qid = arrays()
    if stored == "generic":
        row -= row % 4  # the others are not read
    seen = fingerprint(problem_of(stored, X, y, qid))
    assert same(seen, fingerprint(problem_of(stored, X.copy(), y.copy(), qid.copy())))
    changed = X.copy()
    smallest = np.abs(X).max(axis=0) * (1.0 if stored == "binned" else 2.0**-20)
    changed[row, column] = 0.0 if stored == "binned" and X[row, column] else changed[row, column] + smallest[column]
    if stored == "binned" and not X[row, column]:
        changed[row, column] = 3.0 * np.abs(X).max()
    assert not same(seen, fingerprint(problem_of(stored, changed, y, qid)))


@pytest.mark.parametrize("stored", STORED)
def test_a_label_and_a_weight_that_differ_show(stored: str) -> None:
    X, y, qid = arrays()
    weights = np.arange(1.0, 6.0)
    seen = fingerprint(problem_of(stored, X, y, qid, weights))
    if stored != "classes":
        label = y.copy()
        label[[0, 3]] = [2.0, 1.0]
        assert not same(seen, fingerprint(problem_of(stored, X, label, qid, weights)))
    for changed in (weights[::-1], weights * [1.0, 1.0, 1.0, 1.0 + 1e-15, 1.0], weights * [1.0, 0.0, 1.0, 1.0, 1.0]):
        assert not same(seen, fingerprint(problem_of(stored, X, y, qid, changed)))


@pytest.mark.parametrize("kind", KINDS)
def test_it_does_not_depend_on_C(kind: str) -> None:
    seen = fingerprint(small_problem(kind, weighted=True))
    for C in (1e-9, 0.3, 70.0):
        assert same(seen, fingerprint(small_problem(kind, C=C, weighted=True)))
        assert same(seen, fingerprint(small_problem(kind, weighted=True).with_C(C)))


def test_a_setting_of_the_loss_that_differs_shows() -> None:
    X, y, qid = arrays()
    costs = np.ones((3, 3)) - np.eye(3)
    tiny = costs.copy()
    tiny[1, 2] += 1e-15
    several: list[Any] = [
        *(
            Problem.from_queries(X, y, qid, loss=loss)
            for loss in (AveragePrecision(), AveragePrecision(relevant_from=2), ROCArea())
        ),
        *(
            Problem.from_queries(X, y, qid, loss=loss)
            for loss in (NDCGLoss(), NDCGLoss(2, truncated=True), NDCGLoss(3, truncated=True))
        ),
        *(Problem.from_queries(X, y, qid, loss=PrecisionAtK(k, truncated=True)) for k in (1, 2)),
        *(Problem.from_examples(X, y, loss=Multiclass((0, 1, 2), cost)) for cost in (costs, tiny)),
    ]
    seen = [tuple(fingerprint(problem)) for problem in several]
    assert len(set(seen)) == len(seen)


class Costly(PlainROCArea):
    """A loss in Python with a setting."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return self.factor * super().loss(y, y_hat)


def test_a_loss_in_python_is_told_by_its_settings_and_by_what_it_does() -> None:
    X, y, qid = ranking_arrays(0)

    def seen(loss: Any) -> Vector:
        return fingerprint(Problem.from_queries(X, y, qid, loss=loss))

    assert same(seen(Costly(1.0)), seen(Costly(1.0)))
    assert not same(seen(Costly(1.0)), seen(Costly(1.0 + 1e-15)))
    before = seen(Costly(1.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Costly, "loss", lambda self, y, y_hat: 1.0000001 * PlainROCArea.loss(self, y, y_hat))
        assert not same(before, seen(Costly(1.0)))


FACTOR = 1.0


@numba.njit
def far_from_0(value: float) -> float:
    return value if abs(value) < 100.0 else FACTOR


def with_helper(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    return far_from_0(scores[0])


class FarFrom0(PlainROCArea):
    """A loss of which no probe near 0 shows the setting, which no object holds."""

    factor = 1.0

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return (self.factor if np.abs(y_hat).max() > 100.0 else 1.0) * super().loss(y, y_hat)


def test_what_a_kernel_calls_and_the_constants_there_show() -> None:
    def seen() -> bytes:
        return pickle.dumps(program(with_helper))

    before = seen()
    assert seen() == before
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "FACTOR", 2.0)
        assert seen() != before
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "far_from_0", abs)
        assert seen() != before


def test_a_constant_of_a_loss_in_python_shows_though_no_probe_meets_it() -> None:
    X, y, qid = ranking_arrays(0)
    problem = Problem.from_queries(X, y, qid, loss=FarFrom0())
    before = fingerprint(problem)
    assert same(before, fingerprint(problem))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FarFrom0, "factor", 2.0)
        assert not same(before, fingerprint(problem))


def test_what_cannot_be_told_is_told_apart() -> None:
    class Local(PlainROCArea):
        """Cannot be pickled."""

    X, y, qid = ranking_arrays(0)
    problem = Problem.from_queries(X, y, qid, loss=Local())
    assert not same(fingerprint(problem), fingerprint(problem))
    start = OneSlack().solve(problem)
    assert OneSlack().solve(problem, start=start).history[0].dual == 0.0
    assert not same(np.zeros(0), np.zeros(0))


@frozen(eq=False)
class Plain(Wrapped):
    told: bool = field(default=False)

    @property
    def content(self) -> Any:
        return self.rows.view if self.told else None


@pytest.mark.parametrize("told", [False, True])
def test_an_operator_without_a_view_may_say_what_it_holds(told: bool) -> None:
    X, y, _ = arrays()
    ptr = np.arange(0, 21, 4)
    seen = [fingerprint(Problem.from_queries(Plain(Rows(X, ptr), told), y, loss="roc_area")) for _ in range(2)]
    assert same(*seen) is told


def test_a_function_that_decorators_share_is_no_code_of_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python 3.13 on attrs shares one function between all classes, and names it after the last class."""
    monkeypatch.setattr(Kronecker, "__replace__", evolve, raising=False)
    before = fingerprint(small_problem("generic"))
    monkeypatch.setattr(evolve, "__module__", __name__)
    monkeypatch.setattr(evolve, "__qualname__", "Plain.evolve")
    assert same(before, fingerprint(small_problem("generic")))


IN_ANOTHER_PROCESS = """
import sys
from structsvm.problem import fingerprint
from tests.small_problems import KINDS, small_problem
for kind in KINDS:
    print(fingerprint(small_problem(kind)).tolist())
"""


@pytest.mark.slow
def test_it_is_the_same_in_another_process() -> None:
    done = subprocess.run([sys.executable, "-c", IN_ANOTHER_PROCESS], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [str(fingerprint(small_problem(kind)).tolist()) for kind in KINDS]


def test_a_result_that_was_pickled_or_saved_is_a_start_as_before(tmp_path: Any) -> None:
    problem = small_problem("map", C=100.0)
    result = NSlack().solve(problem)
    result.save(tmp_path / "result.npz")
    for start in (pickle.loads(pickle.dumps(result)), Result.load(tmp_path / "result.npz")):
        assert NSlack().solve(small_problem("map", C=100.0), start=start).history[0].dual == result.dual


def test_the_fingerprint_of_an_older_version_is_of_other_data() -> None:
    result = OneSlack().solve(small_problem("map", C=100.0))
    old = evolve(result, fingerprint=np.ones(195))
    assert OneSlack().solve(small_problem("map", C=100.0), start=old).history[0].dual == 0.0


@pytest.mark.parametrize("solver_name", ["one-slack", "n-slack", "frank-wolfe"])
def test_no_false_certificate_where_a_small_feature_changed(solver_name: str) -> None:
    """A time stamp beside a normal feature: a change of the feature is 1e-8 of the stamp."""
    rng = np.random.default_rng(3)
    y, qid = np.tile([1.0, 0.0, 0.0, 1.0], 6), np.repeat(np.arange(6), 4)
    X = np.column_stack([1.7e9 + rng.integers(0, 9, 24), rng.standard_normal(24) + y])
    other = X.copy()
    other[:, 1] = np.random.default_rng(4).standard_normal(24)
    solver = solvers.create(solver_name, tol=1e-4, max_iter=300)
    first, second = (Problem.from_queries(matrix, y, qid, loss="map", C=10.0) for matrix in (X, other))
    warm = solver.solve(second, start=solver.solve(first))
    assert warm.dual <= OneSlack(tol=1e-6).solve(second).primal + 1e-7


@pytest.mark.parametrize("stored", STORED)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_taken_aside_it_is_the_same(stored: str, n_jobs: int) -> None:
    problem = problem_of(stored, *arrays())
    with using(n_jobs):
        take = fingerprint_aside(problem)
        meanwhile = fingerprint(problem)
        assert np.array_equal(take(), meanwhile)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_goes_wrong_aside_is_raised_where_it_is_asked_for(n_jobs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(problem: Problem, content: Any) -> None:
        raise MemoryError("no room")

    problem = problem_of("dense", *arrays())
    with using(n_jobs):
        with monkeypatch.context() as changed:
            changed.setattr(Problem, "add_content", fail)
            take = fingerprint_aside(problem)
            with pytest.raises(MemoryError, match="no room"):
                take()
        assert same(fingerprint_aside(problem)(), fingerprint(problem))


@pytest.mark.parametrize("before_it_is_read", [True, False])
def test_aside_it_is_of_the_data_that_were_read(before_it_is_read: bool) -> None:
    X, y, qid = arrays()
    problem, gate = problem_of("dense", X, y, qid), threading.Event()
    old = fingerprint(problem)
    with using(2) as threads:
        hold = threads.aside(lambda: gate.wait(10))  # the other thread begins when it is told to
        take = fingerprint_aside(problem)
        if not before_it_is_read:
            gate.set()
            assert same(take(), old)
        X[4, 1] += 2.0**28
        gate.set()
        assert hold()
        assert same(take(), fingerprint(problem)) == before_it_is_read
        assert same(take(), old) != before_it_is_read


@pytest.mark.parametrize("kind", ["python", "many"])
def test_code_of_others_and_very_many_data_are_not_read_aside(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = problem_of("generic" if kind == "python" else "dense", *arrays())
    if kind == "many":
        module = sys.modules["structsvm.problem.fingerprint"]  # the package has a function of that name
        monkeypatch.setattr(module, "_MOST_ASIDE", problem.stored - 1)
    with using(2) as threads:
        monkeypatch.setattr(threads, "aside", None)
        assert same(fingerprint_aside(problem)(), fingerprint(problem))
