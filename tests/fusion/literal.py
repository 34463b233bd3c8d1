"""The methods of fusion, one query at a time, to the letter of their definitions."""

import math
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import strategies as st

Column = list[float | None]
"""The scores of one system, None for documents that it did not retrieve."""


def columns(X: Any) -> list[Column]:
    return [[None if math.isnan(score) else score for score in system] for system in np.asarray(X).T.tolist()]


def normalized(column: Column, how: str) -> Column:
    retrieved = [Fraction(score) for score in column if score is not None]
    if how == "none" or not retrieved:
        return column
    low, high = min(retrieved), max(retrieved)
    if low == high:
        return [None if score is None else 0.0 for score in column]
    shift, scale = {
        "min-max": (low, high - low),
        "sum": (low, sum(score - low for score in retrieved)),
        "z": (statistics.mean(retrieved), Fraction(1)),
    }[how]
    if how == "z":
        # Of scores from 0 to 1: the square root of a fraction of large numbers is too large for a float.
        unit = [float((score - low) / (high - low)) for score in retrieved]
        scale = Fraction(statistics.pstdev(unit)) * (high - low)
    return [None if score is None else float((Fraction(score) - shift) / scale) for score in column]


def combined(X: Any, rule: str, how: str = "none", count: str = "retrieved") -> list[float]:
    return [_combined(list(row), rule, count) for row in zip(*(normalized(c, how) for c in columns(X)), strict=True)]


def _combined(row: Sequence[float | None], rule: str, count: str) -> float:
    scores = [score for score in row if score is not None]
    if not scores:
        return -math.inf
    if rule in {"min", "max", "med"}:
        return {"min": min, "max": max, "med": statistics.median}[rule](scores)
    counted = [score for score in scores if count == "retrieved" or score != 0.0]
    total = math.fsum(scores)
    if rule == "anz":
        return total / len(counted) if counted else 0.0
    return total * len(counted) if rule == "mnz" else total


def retrieved_alone(rule: Callable[[Any], Sequence[float]]) -> Callable[[Any], list[float]]:
    """Apply a rule to the documents that a system retrieved; others are behind."""

    def of(X: Any) -> list[float]:
        X = np.asarray(X)
        somebody = ~np.isnan(X).all(axis=1)
        points = iter(rule(X[somebody]))
        return [next(points) if each else -math.inf for each in somebody]

    return of


def prefers(column: Column, i: int, j: int) -> bool:
    """Whether a system ranks document i ahead of document j."""
    a, b = column[i], column[j]
    return a is not None and (b is None or a > b)


@retrieved_alone
def borda(X: Any) -> list[float]:
    """Hand out N, N − 1, ..., 1, and share among tied documents."""
    N = len(X)
    points = [Fraction(0)] * N
    for column in columns(X):
        left = list(range(N, 0, -1))
        levels = [*sorted({score for score in column if score is not None}, reverse=True), None]
        for level in levels:
            tied = [document for document in range(N) if column[document] == level]
            share, left = left[: len(tied)], left[len(tied) :]
            for document in tied:
                points[document] += Fraction(sum(share), len(tied))
    return [float(each) for each in points]


@retrieved_alone
def condorcet(X: Any) -> list[int]:
    """Count wins over all systems, O(m N²)."""
    return [sum(prefers(column, i, j) for column in columns(X) for j in range(len(X))) for i in range(len(X))]


@retrieved_alone
def copeland(X: Any) -> list[float]:
    """Decide each pair by majority, O(m N²)."""
    ballots, N = columns(X), len(X)
    points = [0.0] * N
    for i in range(N):
        for j in range(N):
            if i != j:
                votes = sum(prefers(ballot, i, j) - prefers(ballot, j, i) for ballot in ballots)
                points[i] += 1.0 if votes > 0 else 0.5 if votes == 0 else 0.0
    return points


def reciprocal_ranks(X: Any, constant: float = 60.0) -> list[float]:
    """Sum 1 / (constant + rank) over the systems, shared among documents of one score."""
    return [math.fsum(_worth(columns(X), row, lambda rank: 1 / (constant + rank))) for row in range(len(X))]


@retrieved_alone
def inverse_squares(X: Any) -> list[float]:
    worths = [_worth(columns(X), row, lambda rank: 1 / rank**2) for row in range(len(X))]
    return [len(worth) * math.fsum(worth) for worth in worths]


def _worth(systems: Sequence[Column], row: int, of_rank: Callable[[int], float]) -> list[float]:
    """Return the points of a document's rank by each system that retrieved it."""
    result = []
    for column in systems:
        own = column[row]
        if own is not None:
            first = 1 + sum(score is not None and score > own for score in column)
            tied = sum(score == own for score in column)
            result.append(math.fsum(of_rank(rank) for rank in range(first, first + tied)) / tied)
    return result


@st.composite
def matrices(draw: st.DrawFn) -> Any:
    """Scores of one to twelve documents by one to six systems, with gaps and ties; whole columns and rows may lack."""
    shape = draw(st.integers(1, 12)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 9999)))
    if draw(st.booleans()):
        X = rng.integers(-2, 3, shape) / 4.0
    else:
        X = rng.standard_normal(shape) * 10.0 ** draw(st.sampled_from([-200, -3, 0, 5, 300]))
    X[rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.8]))] = np.nan
    if draw(st.booleans()):
        X[rng.integers(shape[0])] = np.nan
    if draw(st.booleans()):
        X[:, rng.integers(shape[1])] = np.nan
    return X
