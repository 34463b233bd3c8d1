"""Latent structural SVMs: against the definition, and beside an SVM without latents on data made for them."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import InputError, OracleError
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.testing import check_latent_loss
from tests.estimators.detector import WIDTH, Detector, series


def objective(w: Vector, xs: Any, ys: Any, C: float) -> float:
    """``F(w)`` with the maxima over lists."""
    loss, total = Detector(), 0.0
    for x, y in zip(xs, ys, strict=True):
        over = max(loss.loss(y, *each) + w @ loss.joint_feature(x, *each) for each in loss.outputs(x, y))
        total += over - max(w @ loss.joint_feature(x, y, h) for h in loss.completions(x, y))
    return float(0.5 * w @ w + C / len(xs) * total)


def test_check_latent_loss_finds_nothing_wrong() -> None:
    xs, ys = series(6, 0)
    check_latent_loss(Detector(), list(zip(xs, ys, strict=True)), trials=4)


def test_check_latent_loss_finds_wrong_completions_and_argmaxes() -> None:
    examples = list(zip(*series(4, 0), strict=True))

    class First(Detector):
        def complete(self, x: Vector, y: int, w: Vector) -> int:
            return 0

    with pytest.raises(AssertionError, match=r"First.complete misses the maximum for y = 1"):
        check_latent_loss(First(), examples)

    class Timid(Detector):
        def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> tuple[int, int]:
            return self.argmax(x, w)

    with pytest.raises(AssertionError, match=r"loss_augmented_argmax"):
        check_latent_loss(Timid(), examples)

    class Costly(Detector):
        def loss(self, y: int, y_hat: int, h_hat: int) -> float:
            return float(y != y_hat) + 0.1 * (h_hat > 0)

    with pytest.raises(AssertionError):
        check_latent_loss(Costly(), examples)


@pytest.mark.parametrize("C", [1e-2, 1.0, 1e2, 1e4])
@pytest.mark.parametrize("solver", [OneSlack(tol=1e-4), NSlack(tol=1e-4), FrankWolfe(tol=1e-4)], ids=lambda s: s.name)
def test_the_objective_falls_to_a_stationary_point(solver: Any, C: float) -> None:
    xs, ys = series(12, 1)
    svm = LatentStructuralSVM(Detector(), C=C, solver=solver).fit(xs, ys)
    assert svm.stationary_
    met = [one.objective for one in svm.rounds_]
    assert all(later <= earlier + 1e-9 * (1 + C) for earlier, later in pairwise(met))
    assert svm.objective_ == pytest.approx(objective(svm.coef_, xs, ys, C), rel=1e-9, abs=1e-9 * (1 + C))
    assert svm.rounds_[-1].gap <= 2e-4 * C
    assert svm.latent_ == [Detector().complete(x, y, svm.coef_) for x, y in zip(xs, ys, strict=True)]


@pytest.mark.parametrize("bounds", [(0.0, None), (-0.1, 0.25), (None, np.linspace(-0.2, 0.3, WIDTH + 1))], ids=repr)
def test_within_bounds_it_is_stationary(bounds: Any) -> None:
    (xs, ys), C, tol = series(12, 1), 10.0, 1e-4
    low, high = (np.inf * sign if bound is None else bound for sign, bound in zip((-1.0, 1.0), bounds, strict=True))
    free = LatentStructuralSVM(Detector(), C=C, tol=tol).fit(xs, ys).coef_
    assert (free < low).any() or (free > high).any()
    svm = LatentStructuralSVM(Detector(), C=C, tol=tol, bounds=bounds).fit(xs, ys)
    w = svm.coef_
    assert ((low <= w) & (w <= high)).all()
    assert svm.stationary_
    assert svm.objective_ == pytest.approx(objective(w, xs, ys, C), rel=1e-9)
    loss = Detector()
    completed = sum(loss.joint_feature(x, y, h) for x, y, h in zip(xs, ys, svm.latent_, strict=True))

    def convex(v: Vector) -> float:
        """The objective with the completions at w, which is above it and as high at w."""
        total = objective(v, xs, ys, C) - C / len(xs) * float(v @ completed)
        for x, y in zip(xs, ys, strict=True):
            total += C / len(xs) * max(float(v @ loss.joint_feature(x, y, h)) for h in loss.completions(x, y))
        return total

    assert convex(w) == pytest.approx(svm.objective_, rel=1e-9)
    rng = np.random.default_rng(0)
    for step in np.geomspace(1e-4, 1.0, 60):
        assert convex(np.clip(w + step * rng.normal(size=len(w)), low, high)) >= svm.objective_ - 2.0 * tol * C


def test_a_warm_start_begins_where_it_ended() -> None:
    xs, ys = series(20, 4)
    svm = LatentStructuralSVM(Detector(), C=5.0, warm_start=True).fit(xs, ys)
    before = svm.objective_
    assert len(svm.fit(xs, ys).rounds_) == 1
    assert svm.objective_ <= before + 1e-9


def test_it_computes_in_as_many_processes_as_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told = list[Any]()
    monkeypatch.setattr(Problem, "from_examples", lambda *given, n_jobs, **named: told.append(n_jobs) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        LatentStructuralSVM(Detector(), n_jobs=2).fit(*series(4, 0))
    with pytest.raises(InputError, match=r"LatentStructuralSVM\(n_jobs=...\) must be a number of threads or processes"):
        LatentStructuralSVM(Detector(), n_jobs="a").fit(*series(4, 0))
    assert told == [2]


def test_invalid_arguments_are_errors() -> None:
    xs, ys = series(8, 5)
    with pytest.raises(InputError, match=r"LatentStructuralSVM\(loss=...\) must be a LatentLoss"):
        LatentStructuralSVM("map").fit(xs, ys)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="8 inputs|7 outputs|xs|ys"):
        LatentStructuralSVM(Detector()).fit(xs, ys[:7])
    with pytest.raises(InputError, match=r"LatentStructuralSVM\(bounds=...\)"):
        LatentStructuralSVM(Detector(), bounds=(1.0, 0.0)).fit(xs, ys)
    with pytest.raises(InputError, match="max_iter"):
        LatentStructuralSVM(Detector(), max_iter=0).fit(xs, ys)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 round"):
        LatentStructuralSVM(Detector(), C=50.0, tol=1e-6, max_iter=1).fit(*series(40, 6))

    class First(Detector):
        def complete(self, x: Vector, y: int, w: Vector) -> int:
            return 7 if y else 0

    with pytest.raises(OracleError, match="the argmax and the completion of First"):
        LatentStructuralSVM(First(), C=5.0).fit(xs, ys)
