"""Block-coordinate Frank-Wolfe with gap sampling on chains, in numba.

Lacoste-Julien, Jaggi, Schmidt and Pletscher (ICML 2013); Osokin, Alayrac, Lukasewitz, Dokania and Lacoste-Julien (ICML
2016). It shares no code with the library, and is written as by a careful reader of both papers.
"""

import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

_RECOMPUTED = 10
"""Passes after which all gaps are computed again."""


class Fit(NamedTuple):
    """Weights of features (d, K) and of transitions (K, K), the bounds that certify them, and the effort."""

    w: NDArray[Any]
    v: NDArray[Any]
    primal: float
    dual: float
    passes: int
    seconds: float


def fit(xs: Sequence[Any], ys: Sequence[Any], K: int, C: float, tol: float, longest: float) -> Fit:
    """Minimize ``½‖w‖² + (C/n) Σ hinge`` to a gap of ``tol C``, or for about ``longest`` seconds of CPU time."""
    began = time.process_time()
    n, X, rng = len(xs), np.concatenate(xs), np.random.default_rng(0)
    row, where = np.nonzero(X)
    ptr, gram_ptr = np.cumsum([0, *map(len, xs)]), np.cumsum([0, *(len(x) ** 2 for x in xs)])
    words = ptr, np.concatenate(ys).astype(np.int64), gram_ptr, np.concatenate([np.ravel(x @ x.T) for x in xs])
    features = np.searchsorted(row, np.arange(len(X) + 1)), where, X[row, where]
    w, v = np.zeros((X.shape[1], K)), np.zeros((K, K))
    # Duals are stored as coefficients of scores and transitions, so that a step costs less than d operations.
    duals = np.zeros((len(X), K)), np.zeros((n, K, K)), np.zeros(n)
    gaps, passes = np.zeros(n), 0
    while True:
        _visit(words, features, w, v, duals, gaps, C / n, rng.random(n), False)
        dual = float(duals[2].sum() - 0.5 * (np.sum(w * w) + np.sum(v * v)))
        gap, seconds = float(gaps.sum()), time.process_time() - began
        if gap <= tol * C or seconds > longest:
            return Fit(w, v, dual + gap, dual, passes, seconds)
        for _ in range(_RECOMPUTED):
            _visit(words, features, w, v, duals, gaps, C / n, rng.random(n), True)
        passes += _RECOMPUTED + 1


@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def _dot(a: Any, b: Any) -> float:
    total = 0.0
    for t in range(len(a)):
        for c in range(a.shape[1]):
            total += a[t, c] * b[t, c]
    return total


@numba.njit
def _forward(scores: Any, labels: Any, v: Any, best: Any) -> None:
    """Write the values of the best paths to each state of each letter, by Viterbi's algorithm."""
    T, K = len(labels), len(v)
    reached = np.empty(K)
    for t in range(T):
        reached[:] = 0.0 if t == 0 else -np.inf
        for j in range(0 if t == 0 else K):
            value, weights = best[t - 1, j], v[j]
            for c in range(K):
                through = value + weights[c]
                reached[c] = through if through > reached[c] else reached[c]
        for c in range(K):
            best[t, c] = reached[c] + scores[t, c] + 1.0 / T
        best[t, labels[t]] -= 1.0 / T


@numba.njit
def _maxima(scores: Any, labels: Any, ptr: Any, v: Any, hinges: Any) -> None:
    best = np.empty((np.max(np.diff(ptr)), len(v)))
    for i in range(len(hinges)):
        T = ptr[i + 1] - ptr[i]
        _forward(scores[ptr[i] : ptr[i + 1]], labels[ptr[i] : ptr[i + 1]], v, best)
        hinges[i] = best[T - 1].max()


def seconds_of_maxima(xs: Sequence[Any], ys: Sequence[Any], K: int) -> float:
    """Return the least CPU seconds of one product for the scores of all letters and all maximizations, values only."""
    X, y, ptr = np.concatenate(xs), np.concatenate(ys).astype(np.int64), np.cumsum([0, *map(len, xs)])
    rng, hinges = np.random.default_rng(0), np.empty(len(xs))
    w, v, seconds = 0.1 * rng.standard_normal((X.shape[1], K)), 0.1 * rng.standard_normal((K, K)), []
    for _ in range(20):
        began = time.process_time()
        _maxima(X @ w, y, ptr, v, hinges)
        seconds.append(time.process_time() - began)
    return min(seconds)


@numba.njit(fastmath={"reassoc", "contract", "nsz"})
def _visit(
    words: Any, features: Any, w: Any, v: Any, duals: Any, gaps: Any, cap: float, draws: Any, steps: bool
) -> None:
    """Update the gaps of all words at w, or step for n words drawn in proportion to their gaps."""
    ptr, labels, gram_ptr, gram = words
    first, where, values = features
    own, pairs, loss = duals
    K, n = len(v), len(gaps)
    most = np.max(np.diff(ptr))
    scores, best, move, turn = np.empty((most, K)), np.empty((most, K)), np.empty((most, K)), np.empty((K, K))
    for k in range(n):
        i, rest = k, 0.0
        if steps:
            rest, i = draws[k] * gaps.sum(), 0
            while i < n - 1 and rest >= gaps[i]:
                rest -= gaps[i]
                i += 1
        begin, T = ptr[i], ptr[i + 1] - ptr[i]
        for t in range(T):
            scores[t] = 0.0
            for p in range(first[begin + t], first[begin + t + 1]):
                value, weights = values[p], w[where[p]]
                for c in range(K):
                    scores[t, c] += value * weights[c]
        _forward(scores, labels[begin : begin + T], v, best)
        # The word's plane minus its part of w.
        for j in range(K):
            for c in range(K):
                turn[j, c] = -pairs[i, j, c]
        found, gap = np.argmax(best[T - 1]), -loss[i]
        for t in range(T - 1, -1, -1):
            truth = labels[begin + t]
            for c in range(K):
                move[t, c] = -own[begin + t, c]
            move[t, truth] += cap
            move[t, found] -= cap
            gap += cap / T * (found != truth)
            if t > 0:
                previous = 0
                for j in range(1, K):
                    if best[t - 1, j] + v[j, found] > best[t - 1, previous] + v[previous, found]:
                        previous = j
                turn[labels[begin + t - 1], truth] += cap
                turn[previous, found] -= cap
                found = previous
        added = gap
        gap -= _dot(turn, v) + _dot(move[:T], scores)
        gaps[i] = max(gap, 0.0)
        if not steps or gap <= 0.0:
            continue
        square = _dot(turn, turn)
        for s in range(T):
            for t in range(T):
                square += gram[gram_ptr[i] + s * T + t] * _dot(move[s : s + 1], move[t : t + 1])
        share = min(1.0, gap / square) if square > 0.0 else 1.0
        loss[i] += share * added
        for j in range(K):
            for c in range(K):
                pairs[i, j, c] += share * turn[j, c]
                v[j, c] += share * turn[j, c]
        for t in range(T):
            for c in range(K):
                own[begin + t, c] += share * move[t, c]
            for p in range(first[begin + t], first[begin + t + 1]):
                value, weights = share * values[p], w[where[p]]
                for c in range(K):
                    weights[c] += value * move[t, c]
