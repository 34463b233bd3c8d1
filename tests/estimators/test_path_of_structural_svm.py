"""`StructuralSVM.path` agrees with separate fits and costs less."""

from typing import Any

import numpy as np
import pytest

from structsvm import StructuralSVM
from structsvm.losses import ChainHamming, Loss
from structsvm.result import Status
from structsvm.solvers import FrankWolfe, OneSlack

CS = [10.0, 1.0, 100.0]


def noisy_chains(n: int, seed: int) -> tuple[list[Any], list[Any]]:
    """Return sequences whose state is often kept for the next position and seen through noise."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(3, 4))
    ys = [(rng.integers(3) + np.cumsum(rng.random(rng.integers(2, 9)) < 0.4)) % 3 for _ in range(n)]
    return [means[y] + rng.normal(size=(len(y), 4)) for y in ys], ys


class Nearest(Loss):
    """Classes as a generic loss."""

    def joint_feature(self, x: Any, y: Any) -> Any:
        return np.outer(np.eye(3)[y], x).ravel()

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(y != y_hat)

    def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> int:
        return int(np.argmax(w.reshape(3, -1) @ x + (np.arange(3) != y)))

    def argmax(self, x: Any, w: Any) -> int:
        return int(np.argmax(w.reshape(3, -1) @ x))


def rows(seed: int) -> tuple[list[Any], list[Any]]:
    """Return the positions of sequences as separate examples."""
    xs, ys = noisy_chains(12, seed)
    return list(np.concatenate(xs)), np.concatenate(ys).tolist()


@pytest.mark.parametrize(
    ("loss", "data"),
    [(ChainHamming(), noisy_chains(30, 0)), ("multiclass", rows(1)), (Nearest(), rows(2))],
    ids=["chains", "rows", "generic"],
)
def test_a_path_agrees_with_separate_fits(loss: Any, data: Any) -> None:
    xs, ys = data
    svm = StructuralSVM(loss, tol=1e-3)
    path = svm.path(xs, ys, Cs=CS)
    assert [each.C for each in path] == CS
    assert not hasattr(svm, "model_")
    for each in path:
        alone = StructuralSVM(loss, C=each.C, tol=1e-3).fit(xs, ys).result_
        result = each.result_
        assert result.converged
        assert result.C == each.C
        # Both intervals contain the optimum.
        assert max(result.dual, alone.dual) <= min(result.primal, alone.primal)
        assert abs(result.primal - alone.primal) <= 1e-3 * each.C


@pytest.mark.slow
@pytest.mark.parametrize("solver", [OneSlack(tol=1e-4), FrankWolfe(tol=1e-4)], ids=["one-slack", "frank-wolfe"])
def test_warm_starts_save_passes(solver: Any) -> None:
    xs, ys = noisy_chains(60, 0)
    Cs = [1.0, 3.0, 10.0, 30.0, 100.0]
    svm = StructuralSVM("chain_hamming", solver=solver)
    path = svm.path(xs, ys, Cs=Cs)
    alone = [StructuralSVM("chain_hamming", C=C, solver=solver).fit(xs, ys) for C in Cs]
    warm, cold = (sum(each.result_.history[-1].passes for each in fits) for fits in (path, alone))
    assert warm < 0.8 * cold


def test_weights_callbacks_and_checkpoints(tmp_path: Any) -> None:
    xs, ys = noisy_chains(20, 1)
    weight = np.arange(1.0, 21.0)
    path = StructuralSVM("chain_hamming").path(xs, ys, CS, weight, checkpoint=tmp_path / "fit.npz")
    assert {each.name for each in tmp_path.iterdir()} == {f"fit.C={C}.npz" for C in CS}
    alone = StructuralSVM("chain_hamming", C=1.0).fit(xs, ys, weight)
    assert path[1].result_.primal == alone.result_.primal
    stopped = StructuralSVM("chain_hamming", solver="one-slack").path(xs, ys, CS, callback=lambda step: step.C == 10.0)
    assert [each.C for each in stopped] == [10.0, 1.0]
    assert stopped[0].result_.status is Status.STOPPED
