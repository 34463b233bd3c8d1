"""Sparse joint features of generic losses: planes, cuts and checks read only columns with a value."""

import tracemalloc
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from structsvm import Problem, Result, StructuralSVM
from structsvm.exceptions import CheckError
from structsvm.foundation.types import IntVector, Vector
from structsvm.losses import Loss
from structsvm.registry import solvers
from structsvm.solvers import Auto, NSlack
from structsvm.solvers.qp import ActiveSet
from structsvm.solvers.working_set import WorkingSet

BLOCK = 50_000
CLASSES = 3
D = CLASSES * BLOCK


class Words(Loss[IntVector, int]):
    """A document's class, by weights of its words for each class."""

    encoded: ClassVar[list[int]] = []
    weights: ClassVar[list[int]] = []

    def joint_feature(self, x: IntVector, y: int) -> Any:
        self.encoded.append(y)
        return sp.csr_array((np.ones(len(x)), (np.zeros(len(x), dtype=int), x + y * BLOCK)), shape=(1, D))

    def loss(self, y: int, y_hat: int) -> float:
        return float(y != y_hat)

    def _values(self, x: IntVector, w: Vector) -> Vector:
        self.weights.append(w.__array_interface__["data"][0])
        return np.array([w[x + y * BLOCK].sum() for y in range(CLASSES)])

    def loss_augmented_argmax(self, x: IntVector, y: int, w: Vector) -> int:
        return int(np.argmax(self._values(x, w) + (np.arange(CLASSES) != y)))

    def argmax(self, x: IntVector, w: Vector) -> int:
        return int(np.argmax(self._values(x, w)))


class WithoutLoss(Words):
    """Forgets the loss in its augmented argmax."""

    def loss_augmented_argmax(self, x: IntVector, y: int, w: Vector) -> int:
        return int(np.argmax(self._values(x, w)))


class Dense(Words):
    """The same joint features in dense vectors."""

    def joint_feature(self, x: IntVector, y: int) -> Vector:
        return np.asarray(super().joint_feature(x, y).toarray()[0])


def documents(n: int) -> tuple[list[IntVector], list[int]]:
    rng = np.random.default_rng(0)
    xs = [rng.choice(BLOCK, 10, replace=False) for _ in range(n)]
    return xs, [int(x.sum() % CLASSES) for x in xs]


def test_a_fit_stores_few_vectors_of_all_weights_and_encodes_each_output_once():
    xs, ys = documents(100)
    tracemalloc.start()
    try:
        problem = Problem.from_examples(xs, ys, loss=Words(), n_jobs=1)
        Words.encoded.clear()
        Words.weights.clear()
        result = Auto(tol=1e-2).solve(problem)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.converged
    assert peak < 8 * D * len(xs) / 2
    assert len(Words.encoded) <= CLASSES * len(xs) + len(xs)
    # The same weights serve all argmaxes of a pass.
    assert np.count_nonzero(np.diff(Words.weights)) < len(Words.weights) / len(xs)


@pytest.mark.parametrize("solver", ["n-slack", "one-slack", "auto"])
def test_sparse_and_dense_joint_features_have_the_same_optimum(solver):
    xs, ys = documents(6)
    results = [
        solvers.create(solver, tol=1e-7).solve(Problem.from_examples(xs, ys, loss=loss, C=5.0, n_jobs=1))
        for loss in (Words(), Dense())
    ]
    assert sp.issparse(results[0].cuts.G)
    assert not sp.issparse(results[1].cuts.G)
    assert results[0].primal == pytest.approx(results[1].primal, rel=1e-6)
    np.testing.assert_allclose(results[0].w, results[1].w, atol=1e-3)


def test_a_saved_result_restarts_with_its_sparse_cuts(tmp_path: Path) -> None:
    xs, ys = documents(10)
    problem = Problem.from_examples(xs, ys, loss=Words(), C=5.0, n_jobs=1)
    result = NSlack(tol=1e-6).solve(problem)
    result.save(tmp_path / "result.npz")
    assert (tmp_path / "result.npz").stat().st_size < 8 * D
    loaded = Result.load(tmp_path / "result.npz")
    np.testing.assert_array_equal(loaded.cuts.G.toarray(), result.cuts.G.toarray())
    assert len(NSlack(tol=1e-6).solve(problem, loaded).history) == 1


def test_merged_sparse_cuts_equal_merged_dense_ones():
    rng = np.random.default_rng(3)
    sets = [WorkingSet(30, np.full(2, 0.5), 8, sparse=sparse) for sparse in (False, True)]
    for _ in range(12):
        G, L = rng.standard_normal((3, 30)) * (rng.random((3, 30)) < 0.2), rng.random(3)
        for cuts in sets:
            cuts.add(sp.csr_array(G) if cuts is sets[1] else G, L, np.array([0, 1, 1]))
            cuts.solve(ActiveSet(), 1e-12)
            cuts.prune(3)
        dense, sparse = sets
        np.testing.assert_allclose(sparse.G.toarray(), dense.G, atol=1e-12)
        np.testing.assert_allclose(sparse.w, dense.w, atol=1e-9)
        assert sparse.dual == pytest.approx(dense.dual, rel=1e-9)


def test_a_fit_finds_a_wrong_argmax_of_sparse_joint_features():
    with pytest.raises(CheckError, match="maximizer"):
        StructuralSVM(WithoutLoss(), n_jobs=1).fit(*documents(8))
