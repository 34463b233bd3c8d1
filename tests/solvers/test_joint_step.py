"""The QP over the planes that are kept, solved by 1-slack, against coordinate steps and by itself."""

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.foundation.compute.threads import using
from structsvm.problem import Problem
from structsvm.problem.planes import DualPlanes
from structsvm.problem.sweep import sweep_examples
from structsvm.solvers.joint_step import improve_jointly


def kept(C: float, loss: str, passes: int = 3) -> tuple[Problem, DualPlanes]:
    """Take a few passes over a small problem."""
    rng = np.random.default_rng(1)
    X, qid = rng.normal(size=(360, 5)), np.repeat(np.arange(30), 12)
    y = (X @ rng.normal(size=5) + rng.normal(size=360) > 1.0).astype(np.float64)
    y[::12], y[1::12] = 1.0, 0.0
    problem = Problem.from_queries(X, y, qid, loss=loss, C=C)
    dual = DualPlanes(problem.d, problem.cap, 6)
    for _ in range(passes):
        sweep_examples(problem, dual, np.arange(problem.n))
    return problem, dual


def primal(dual: DualPlanes) -> float:
    """Evaluate the restricted problem at the present weights, plane by plane."""
    arrays = dual.arrays
    values = arrays.L - arrays.G @ dual.w
    values[np.arange(values.shape[1]) >= arrays.used[:, None]] = 0.0
    return float(0.5 * dual.w @ dual.w + arrays.cap @ np.maximum(values.max(axis=1), 0.0))


@pytest.mark.parametrize("loss", ["map", "roc_area"])
@pytest.mark.parametrize("C", [1.0, 100.0, 1e4, 1e6])
@pytest.mark.parametrize("accuracy", [1e-2, 1e-5])
def test_the_gap_on_the_planes_closes(loss, C, accuracy):
    problem, dual = kept(C, loss)
    before = dual.refresh()
    improve_jointly(dual, accuracy * C, 400)
    after, w = dual.refresh(), dual.w.copy()
    assert after >= before - 1e-9 * abs(before)
    assert (dual.arrays.a >= 0.0).all()
    assert (dual.arrays.a.sum(axis=1) <= problem.cap * (1.0 + 1e-9)).all()
    dual.improve(np.arange(problem.n), most=3000)  # no coordinate step can lift the dual by more than was left
    assert dual.refresh() <= after + 1.1 * accuracy * C
    assert primal(dual) >= after - 1e-9 * C
    assert w.shape == (problem.d,)


def test_blocks_give_the_same_whatever_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("structsvm.foundation.compute.threads._BLOCK", 10)
    result = []
    for n_jobs in (1, 2, 8):
        _, dual = kept(1e4, "map")
        with using(n_jobs):
            before = dual.refresh()
            improve_jointly(dual, 1.0, 30)
        assert dual.refresh() > before
        result.append((dual.w.tobytes(), dual.arrays.a.tobytes()))
    assert result[0] == result[1] == result[2]


def test_no_step_where_the_multipliers_are_the_best():
    _, dual = kept(10.0, "map")
    dual.improve(np.arange(30), most=5000)
    before, a = dual.refresh(), dual.arrays.a.copy()
    improve_jointly(dual, 0.0, 40)
    assert dual.refresh() >= before - 1e-12 * before
    np.testing.assert_allclose(dual.arrays.a, a, atol=1e-3 * a.max())


def test_planes_too_large_to_compute_with_are_refused():
    _, dual = kept(10.0, "map")
    dual.arrays.gram[:] = 1e306
    with pytest.raises(InputError, match="too large to compute with"):
        improve_jointly(dual, 0.0, 40)


def test_it_ends_after_so_many_cuts():
    _, dual = kept(1e4, "map")
    before = dual.refresh()
    improve_jointly(dual, 0.0, 3)
    assert dual.refresh() >= before


def test_planes_long_without_weight_are_passed_over():
    problem, dual = kept(100.0, "map")
    dual.arrays.age[:, 0] = 100.0
    dual.arrays.a[:, 0] = 0.0
    dual.refresh()
    improve_jointly(dual, 1e-4, 50)
    assert not dual.arrays.a[:, 0].any()
    assert dual.arrays.a.any()
    assert problem.n == 30
