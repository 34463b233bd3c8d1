"""Compile the package's losses before the first fit."""

import time
from collections.abc import Iterator, Sequence
from itertools import chain, product
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from structsvm.foundation.compute.processes import spread
from structsvm.foundation.types import Vector
from structsvm.problem import Problem
from structsvm.registry import losses
from structsvm.solvers import Auto, NSlack, OneSlack
from structsvm.solvers.comparison.combinations import Combination, Task
from structsvm.solvers.comparison.running import warm_up

_QUERIES, _DOCUMENTS, _FEATURES = 40, 12, 4


def ranking_losses() -> list[str]:
    """Return the names of the built-in losses of rankers that have a kernel."""
    names = (losses.shown(name) for name in losses.built_in)
    return [name for name in names if labels_of_kernels(losses.create(name))]


def labels_of_kernels(loss: Any) -> list[Vector]:
    """Return labels of a query, shape (12,), for each kernel of a loss of rankers, which may depend on grades."""
    if not loss.scores_rows:
        return []
    grades: Vector = np.arange(_DOCUMENTS, dtype=np.float64) % 3.0
    two: Vector = (grades == 1.0).astype(np.float64)
    labels = {loss.bind([y]).kernel: y for y in (grades, two)}
    return [y for kernel, y in labels.items() if kernel is not None]


def compile_losses(
    names: Sequence[str], storages: Sequence[str] = ("float64",), n_jobs: int | None = 1
) -> Iterator[tuple[str, float]]:
    """Compile the code of fits in ``n_jobs`` processes; yield name and seconds of each loss."""
    first, *others = names
    yield _compile(first, tuple(storages))
    yield from chain(spread(_compile, [(name, tuple(storages)) for name in others], n_jobs) if others else ())


def _compile(name: str, storages: tuple[str, ...]) -> tuple[str, float]:
    began = time.perf_counter()
    rng = np.random.default_rng(0)
    rows = _QUERIES * _DOCUMENTS
    X = np.where(rng.random((rows, _FEATURES)) < 0.5, 0.0, rng.standard_normal((rows, _FEATURES)))
    qid = np.repeat(np.arange(_QUERIES), _DOCUMENTS)
    loss = losses.create(name)
    for storage, y in product(storages, labels_of_kernels(loss)):
        stored = csr_array(X) if storage == "sparse" else X.astype(storage)
        problem = Problem.from_queries(stored, np.tile(y, _QUERIES), qid, loss=loss, C=100.0)
        for solver in (Auto(), OneSlack(), NSlack()):
            warm_up(Task(Combination(name, solver.name, None, problem.C), problem, solver, None, 1e-3))
    return name, time.perf_counter() - began
