"""Backward elimination of features: fits without the weakest features of the fit before."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np
from attrs import evolve

from structsvm.features.operators.occupied import rows_of
from structsvm.foundation.queries import Queries
from structsvm.foundation.types import IntVector, Vector
from structsvm.problem import fingerprint
from structsvm.result import Result
from structsvm.training.objective import Objective


class Elimination(NamedTuple):
    """A fit with some features; the columns of its result leave out empty columns of sparse data."""

    features: IntVector
    result: Result


def sizes_of(width: int, step: float, fewest: int) -> list[int]:
    """Return the numbers of features to fit with, descending; a step below 1 is a share of the features that remain."""
    sizes = [width]
    while sizes[-1] > fewest:
        dropped = int(step) if step >= 1 else max(1, ceil(round(step * sizes[-1], 9)))
        sizes.append(max(fewest, sizes[-1] - dropped))
    return sizes


def eliminate(objective: Objective, queries: Queries, sizes: Sequence[int]) -> Iterator[Elimination]:
    """Fit with each number of features, from all of them down; drop the features with the smallest effect on scores.

    The effect is the absolute weight times the standard deviation of the feature within queries. Each fit starts from
    the planes of the fit before, without the features that were left out.
    """
    problem: Any = objective.problem
    X, width = rows_of(problem.operator), sizes[0]
    occupied = np.arange(width) if objective.columns is None else objective.columns
    empty = np.setdiff1d(np.arange(width), occupied)
    ptr = problem.ptr
    if problem.loss.per_row:
        X, ptr = queries.grouped(X), queries.ptr
    spread = spread_within(X, ptr)
    extras = np.arange(len(occupied), problem.d)
    remaining, solved = np.arange(len(occupied)), evolve(objective, columns=None)
    result = solved.minimize()
    for size in sizes:
        if size < len(remaining):
            effects = np.abs(result.w[: len(remaining)]) * spread[remaining]
            staying = np.sort(np.argsort(effects, kind="stable")[len(remaining) - size :])
            narrow = problem.of_features(remaining[staying])
            start = _start(result, narrow, np.concatenate([staying, extras - len(occupied) + len(remaining)]))
            solved, remaining = evolve(solved, problem=narrow), remaining[staying]
            if start.fingerprint.size:
                solved = evolve(solved, problem=narrow.knowing(start.fingerprint))
            result = solved.minimize(start)
        columns = occupied[remaining]
        features = np.sort(np.append(columns, empty[: size - len(remaining)]))
        yield Elimination(features, evolve(result, columns=None if len(columns) == width else columns))


def spread_within(X: Any, ptr: IntVector) -> Vector:
    """Return the standard deviation of each feature around the means of queries, shape (d,); X is dense or CSR."""
    sizes = np.diff(ptr)
    if isinstance(X, np.ndarray):
        means = np.add.reduceat(X, ptr[:-1], axis=0, dtype=np.float64) / sizes[:, None]
        squares = np.square(X - np.repeat(means, sizes, axis=0)).sum(axis=0)
    else:
        import scipy.sparse as sp

        adding = sp.csr_array((np.ones(X.shape[0]), np.arange(X.shape[0]), ptr), shape=(len(sizes), X.shape[0]))
        rows = X.astype(np.float64)
        rows.sum_duplicates()
        sums = adding @ rows
        between = sums.multiply(sums).multiply(1.0 / sizes[:, None]).sum(axis=0)
        squares = rows.power(2).sum(axis=0) - between
    return np.asarray(np.sqrt(np.maximum(np.ravel(squares), 0.0) / X.shape[0]))


def _start(result: Result, problem: Any, weights: IntVector) -> Result:
    """Return the start of a problem with some ``weights`` of a result: its planes, or only its weights."""
    coordinates = problem.coordinates
    if coordinates is not None and coordinates.center.any():
        return evolve(result.of_columns(weights, len(result.w)), columns=None)
    return result.of_weights(weights, fingerprint(problem))
