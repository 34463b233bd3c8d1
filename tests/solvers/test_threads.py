"""Every result is the same to the last bit, whatever the number of threads."""

import threading
from typing import Any

import joblib
import numpy as np
import pytest
import scipy.sparse as sp
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Problem, Ranker
from structsvm.exceptions import InputError, OracleError
from structsvm.features.operators.binned import BinnedMatrix
from structsvm.losses import ROCArea
from structsvm.problem.batches import Batches
from structsvm.problem.planes import DualPlanes
from structsvm.problem.sweep import sweep_examples
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from tests.small_problems import PlainROCArea, ranking, ranking_arrays


def told_apart() -> Any:
    """Queries whose features separate relevant documents, so that weights are not 0."""
    X, y, qid = ranking_arrays(0, queries=150, documents=20, d=6)
    return X + y[:, None], y, qid


DATA = told_apart()


def binned(X: Any) -> BinnedMatrix:
    return BinnedMatrix(np.digitize(X, [-1.0, 0.0, 1.0]), np.arange(0, 3 * X.shape[1] + 1, 3))


FORMS: dict[str, Any] = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr": lambda X: sp.csr_array(X * (np.abs(X) > 0.5)),
    "binned": binned,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("structsvm.foundation.compute.threads._BLOCK", 100)


def require_equal(problem: Problem, solver: Any) -> None:
    results = [solver.solve(evolve(problem, n_jobs=n_jobs)) for n_jobs in (1, 2, 8)]
    assert results[0].w.any()
    for other in results[1:]:
        assert other.w.tobytes() == results[0].w.tobytes()
        assert (other.primal, other.dual) == (results[0].primal, results[0].dual)
        assert other.cuts.G.tobytes() == results[0].cuts.G.tobytes()
        assert [step.passes for step in other.history] == [step.passes for step in results[0].history]


@pytest.mark.parametrize("solver", [FrankWolfe(), OneSlack(), NSlack(batch=50, tol=0.02)])
@pytest.mark.parametrize("form", FORMS)
def test_rankings(form: str, solver: Any) -> None:
    X, y, qid = DATA
    intercept = 0.5 if isinstance(solver, OneSlack) else 0.0
    require_equal(Problem.from_queries(FORMS[form](X), y, qid, loss="map", C=100.0, intercept=intercept), solver)


@pytest.mark.parametrize("solver", [FrankWolfe(tol=0.05), OneSlack()])
def test_classes(solver: Any) -> None:
    X, _, _ = DATA
    require_equal(Problem.from_examples(X[:600], X[:600, :3].argmax(axis=1), loss="multiclass", C=10.0), solver)


@pytest.mark.parametrize("solver", [FrankWolfe(tol=0.05), OneSlack()])
def test_rows(solver: Any) -> None:
    X, y, _ = DATA
    require_equal(Problem.from_queries(X, y, loss="zero_one", C=10.0), solver)


def test_planes_that_are_rounded_and_merged() -> None:
    X, y, qid = DATA
    require_equal(
        Problem.from_queries(X, y, qid, loss="map", C=1000.0), FrankWolfe(memory=60_000, tol=0.02, max_iter=30)
    )


def test_a_loss_in_python_takes_as_many_processes() -> None:
    problem = ranking(PlainROCArea(), 0, queries=8)
    point = problem.at(np.ones(problem.d))
    alone, together = (evolve(problem, n_jobs=n).planes(point) for n in (1, 2))
    np.testing.assert_array_equal(together.coef, alone.coef)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1.0, 100.0, 1e4]), st.sampled_from([1, 2, 5]))
def test_the_dual_never_falls(seed: int, C: float, n_jobs: int) -> None:
    problem = evolve(ranking("roc_area", seed, C, queries=120, documents=6), n_jobs=n_jobs)
    dual = DualPlanes(problem.d, problem.cap, 4)
    rng, last = np.random.default_rng(seed), 0.0
    for _ in range(6):
        sweep_examples(problem, dual, rng.permutation(problem.n)[: rng.integers(1, problem.n + 1)])
        now = dual.refresh()
        assert now >= last - 1e-12 * abs(last)
        last = now


@given(
    st.integers(0, 300),
    st.integers(1, 10**7),
    st.floats(1.0, 1e5),
    st.floats(0.0, 1e7),
)
def test_each_visit_is_in_one_chunk_of_one_batch(visits: int, n: int, scores: float, values: float) -> None:
    batches = Batches.of(visits, n, scores, values, np.zeros(2), first=False)
    assert batches.chunk_ptr[0] == batches.batch_ptr[0] == 0
    assert batches.chunk_ptr[-1] == visits
    assert batches.batch_ptr[-1] == len(batches.chunk_ptr) - 1
    assert (np.diff(batches.chunk_ptr) > 0).all()
    assert (np.diff(batches.batch_ptr) > 0).all()
    size = np.diff(batches.chunk_ptr[batches.batch_ptr]).max(initial=0)
    assert size <= max(1, (n + 25) // 50)


def test_few_examples_are_visited_one_by_one() -> None:
    assert Batches.of(74, 74, 1000.0, 1e5, np.zeros(2), first=True).threads == 1
    assert Batches.of(75, 75, 1000.0, 1e5, np.zeros(2), first=True).threads == 2
    assert Batches.of(1000, 1000, 100.0, 1.4e4, np.zeros(2), first=True).threads == 20


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_an_argmax_that_is_beaten_is_named(n_jobs: int) -> None:
    problem = evolve(ranking("roc_area", 0, 10.0, queries=200, documents=10), n_jobs=n_jobs)
    dual = DualPlanes(problem.d, problem.cap, 4)
    sweep_examples(problem, dual, np.arange(200))
    for i in (77, 79):  # of one batch of four
        dual.visit(np.array([i]), np.full((1, problem.d), 1e-3), np.array([50.0]))
    with pytest.raises(OracleError, match="wrong output for example 77: an output found earlier has a larger"):
        sweep_examples(problem, dual, np.arange(200))


def raising(scores: Any, labels: Any, params: Any, out: Any) -> float:
    out[:] = 0.0
    if labels[0] == 7.0:
        raise ValueError("a label of 7")
    return 0.0


class Raising(ROCArea):
    check_before_fit = False
    kernel = staticmethod(raising)

    def labels(self, y: Any) -> Any:
        return np.asarray(y)


@pytest.mark.parametrize("n_jobs", [1, 2, 8])
def test_an_error_in_a_kernel_ends_all_threads(n_jobs: int) -> None:
    _, y, qid = ranking_arrays(0, queries=200, documents=10)
    y = np.where((qid == 120) & (y > 0), 7.0, y)
    y[qid == 120] = np.roll(y[qid == 120], -int(np.argmax(y[qid == 120] == 7.0)))
    problem = Problem.from_queries(np.ones((len(y), 2)), y, qid, loss=Raising(), n_jobs=n_jobs)
    with pytest.raises(ValueError, match="a label of 7"):
        sweep_examples(problem, DualPlanes(2, problem.cap, 4), np.arange(200))


def test_an_example_is_visited_once() -> None:
    problem = ranking("roc_area", 0)
    with pytest.raises(InputError, match="order must contain each example at most once"):
        sweep_examples(problem, DualPlanes(problem.d, problem.cap, 4), np.array([0, 1, 0]))


def threads_of_a_fit(n_jobs: int | None) -> set[str]:
    X, y, qid = DATA
    met = set[str]()

    def look(step: Any) -> None:
        met.update(thread.name for thread in threading.enumerate() if thread.name.startswith("structsvm"))

    Ranker("map", C=100.0, n_jobs=n_jobs).fit(X, y, qid=qid, callback=look)
    return met


def test_an_estimator_takes_the_threads_that_it_is_given() -> None:
    assert len(threads_of_a_fit(1)) == 0
    assert 1 <= len(threads_of_a_fit(3)) <= 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("structsvm")]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_a_worker_of_joblib_takes_no_further_threads(backend: str) -> None:
    assert joblib.Parallel(n_jobs=2, backend=backend)([joblib.delayed(threads_of_a_fit)(None)] * 2) == [set(), set()]
