"""Losses as users write them, from the pages and for structured outputs, each with examples to check it on."""

from collections.abc import Iterable
from itertools import combinations_with_replacement, permutations, product
from typing import Any

import numpy as np
from attrs import frozen
from sklearn.datasets import load_iris

from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import GradedPairsLoss, GradedRankingLoss, InterleavingLoss, Loss, PairwiseLoss, ScoreLoss

X, CLASSES = load_iris(return_X_y=True)


class Ordinal(Loss[Vector, int]):
    """Labels in order, by their distance (the quickstart)."""

    def joint_feature(self, x: Vector, y: int) -> Vector:
        return np.outer(np.eye(3)[y], x).ravel()

    def loss(self, y: int, y_hat: int) -> float:
        return abs(y - y_hat)

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> int:
        return int(np.argmax(w.reshape(3, -1) @ x + np.abs(np.arange(3) - y)))

    def argmax(self, x: Vector, w: Vector) -> int:
        return int(np.argmax(w.reshape(3, -1) @ x))

    def outputs(self, x: Vector, y: int) -> Iterable[int]:
        return range(3)


class Listing(Loss[Any, Any]):
    """A loss whose argmaxes go through all outputs."""

    def loss_augmented_argmax(self, x: Any, y: Any, w: Vector) -> Any:
        return max(self.outputs(x, y), key=lambda output: self.loss(y, output) + w @ self.joint_feature(x, output))

    def argmax(self, x: Any, w: Vector) -> Any:
        return max(self.outputs(x, None), key=lambda output: w @ self.joint_feature(x, output))


PARENT = {"a": "", "b": "", "a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b"}
LEAVES = ("a1", "a2", "b1", "b2", "b3")
NODES = tuple(PARENT)


def ancestors(node: str) -> set[str]:
    """Return the node and its ancestors, without the root."""
    return {node} | ancestors(PARENT[node]) if node else set()


class Tree(Listing):
    """A leaf of a tree: weights for every node, and the length of the way between two leaves."""

    def joint_feature(self, x: Vector, y: str) -> Vector:
        return np.kron([node in ancestors(y) for node in NODES], x)

    def loss(self, y: str, y_hat: str) -> float:
        return len(ancestors(y) ^ ancestors(y_hat)) / 4

    def outputs(self, x: Vector, y: Any) -> Iterable[str]:
        return LEAVES


class Potts(Listing):
    """Labels of a grid of pixels, three of them: weights of each label, and of neighbors that agree."""

    def joint_feature(self, x: Matrix, y: Any) -> Vector:
        grid = np.reshape(y, x.shape[:2])
        unary = np.eye(3)[grid.ravel()].T @ x.reshape(grid.size, -1)
        agree = (grid[1:] == grid[:-1]).sum() + (grid[:, 1:] == grid[:, :-1]).sum()
        return np.append(unary.ravel(), agree)

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(np.mean(np.not_equal(y, y_hat)))

    def outputs(self, x: Matrix, y: Any) -> Iterable[Any]:
        return product(range(3), repeat=x.shape[0] * x.shape[1])


class Matching(Listing):
    """Which of four things goes with which other: weights of the features of pairs."""

    def joint_feature(self, x: Any, y: Any) -> Vector:
        return np.asarray(x[np.arange(len(x)), list(y)].sum(axis=0))

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(np.mean(np.not_equal(y, y_hat)))

    def outputs(self, x: Any, y: Any) -> Iterable[Any]:
        return permutations(range(len(x)))


TAGS = 3
ALL = [np.array(tags) for tags in product([0, 1], repeat=TAGS)]


class Tags(Loss[Vector, Any]):
    """Sets of tags, some of which occur together (how to write a loss)."""

    def joint_feature(self, x: Vector, y: Any) -> Vector:
        return np.concatenate([np.outer(y, x).ravel(), np.outer(y, y)[np.triu_indices(TAGS, 1)]])

    def loss(self, y: Any, y_hat: Any) -> float:
        return float(np.mean(y != y_hat))

    def loss_augmented_argmax(self, x: Vector, y: Any, w: Vector) -> Any:
        return max(ALL, key=lambda tags: self.loss(y, tags) + w @ self.joint_feature(x, tags))

    def argmax(self, x: Vector, w: Vector) -> Any:
        return max(ALL, key=lambda tags: w @ self.joint_feature(x, tags))

    def outputs(self, x: Vector, y: Any) -> Iterable[Any]:
        return ALL


class FirstRelevant(InterleavingLoss):
    """The reciprocal rank of the first relevant document."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return np.where(k == 1, 1 - 1 / (1 + j), 0.0)


@frozen
class RankBiased(InterleavingLoss):
    """Rank-biased precision of the first k documents (how to write a loss)."""

    k: int = 10
    p: float = 0.8

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        def value(rank: Any) -> Any:
            return np.where(rank <= self.k, self.p**rank, 0.0)

        return (value(k) - value(k + j)) / value(np.arange(1, R + 1)).sum()


class RankBiasedPrecision(InterleavingLoss):
    """The same without a cut-off (losses)."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        p = 0.8
        return (p ** (k - 1) - p ** (k + j - 1)) * (1 - p) / (1 - p**R)


class OwnReciprocalRank(PairwiseLoss):
    """The reciprocal rank with a custom argmax (the quickstart)."""

    def loss(self, y: Vector, y_hat: Vector) -> float:
        relevant = self.ranked_relevance(y, y_hat)
        return float(1 - 1 / (1 + relevant.argmax())) if relevant.any() else 0.0

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        relevant = self.relevant(y)
        top = scores.max() + 1
        ranking = np.where(relevant & (scores == scores[relevant].max()), top, scores)
        rankings = [ranking]
        for k, other in enumerate(sorted(np.flatnonzero(~relevant), key=lambda j: -scores[j])):
            ranking = ranking.copy()
            ranking[other] = top + len(y) - k
            rankings.append(ranking)
        return max(rankings, key=lambda ranking: self.loss(y, ranking) + scores @ self.encode(ranking, y))


def ranks(scores: Vector) -> Vector:
    """Return a ranking without ties: the place of each document from the bottom."""
    return np.argsort(np.argsort(scores, kind="stable")).astype(float)


@frozen
class GradedPairs(ScoreLoss[Vector]):
    """Pairs in the wrong order, by the difference of their grades (how to write a loss)."""

    def encode(self, y_hat: Vector, y: Vector) -> Vector:
        ahead = np.sign(y_hat[:, None] - y_hat)
        better = y[:, None] > y
        return np.asarray(((ahead * better).sum(axis=1) - (ahead * better).sum(axis=0)) / self._weights(y).sum())

    def loss(self, y: Vector, y_hat: Vector) -> float:
        weights, wrong = self._weights(y), y_hat[:, None] < y_hat
        return float((weights * wrong).sum() / weights.sum())

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        return ranks(scores - y / 2)

    def argmax(self, scores: Vector) -> Vector:
        return scores

    def usable(self, y: Vector) -> bool:
        return bool(y.max() > y.min())

    def outputs(self, y: Vector) -> Iterable[Vector]:
        return (np.array(ranking, dtype=float) for ranking in permutations(range(len(y))))

    def _weights(self, y: Vector) -> Matrix:
        return np.maximum(y[:, None] - y, 0.0)


@frozen
class GainLost(GradedPairsLoss):
    """Pairs in the wrong order, by the difference of their gains (how to write a loss)."""

    def weight(self, better: Vector, worse: Vector) -> Vector:
        return np.asarray(2.0**better - 2.0**worse)


@frozen
class Abandonment(GradedRankingLoss):
    """Probability that the first k documents do not satisfy the user (how to write a loss)."""

    k: int = 2
    max_grade: int = 2

    def loss(self, y: Vector, y_hat: Vector) -> float:
        return float(self._abandoned(y, y_hat) - self._abandoned(y, y))

    def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
        best = {grade: [i for i in np.argsort(-scores, kind="stable") if y[i] == grade] for grade in np.unique(y)}
        rankings = []
        for grades in combinations_with_replacement(best, min(self.k, len(y))):
            first = [i for grade in best for i in best[grade][: grades.count(grade)]]
            if len(first) == len(grades):
                ranking = ranks(scores)
                ranking[first] += len(y)
                rankings.append(ranking)
        return max(rankings, key=lambda ranking: self.loss(y, ranking) + scores @ self.encode(ranking, y))

    def usable(self, y: Vector) -> bool:
        return len(y) > self.k and super().usable(y)

    def _abandoned(self, y: Vector, y_hat: Vector) -> Any:
        satisfied = (2.0**y - 1) / 2.0**self.max_grade
        return np.prod(1 - satisfied[np.argsort(-y_hat, kind="stable")[: self.k]])


def _labeled(loss: Any, xs: list[Any], d: int) -> list[tuple[Any, Any]]:
    """Return inputs with outputs that some weights predict, so that a bonus for the truth changes the argmax."""
    w = np.random.default_rng(1).standard_normal(d)
    return [(x, loss.argmax(x, w)) for x in xs]


_RNG = np.random.default_rng(0)
_FLOWERS = [(X[i], int(CLASSES[i])) for i in (0, 60, 120)]
USERS: dict[str, tuple[Any, Any]] = {
    "Ordinal, iris": (Ordinal(), _FLOWERS),
    "Ordinal, iris x 1000": (Ordinal(), [(1000 * x, y) for x, y in _FLOWERS]),
    "Tree": (Tree(), [(10 * _RNG.standard_normal(6), leaf) for leaf in LEAVES[:3]]),
    "Potts": (Potts(), _labeled(Potts(), [100 * _RNG.standard_normal((2, 2, 2))], 7)),
    "Matching": (Matching(), _labeled(Matching(), list(_RNG.random((2, 4, 4, 5))), 5)),
    "Tags": (Tags(), [(_RNG.standard_normal(4), ALL[k]) for k in (0, 3, 5)]),
    "FirstRelevant": (FirstRelevant(), None),
    "RankBiased(k=3)": (RankBiased(k=3), None),
    "RankBiasedPrecision": (RankBiasedPrecision(), None),
    "custom ReciprocalRank": (OwnReciprocalRank(), None),
    "GainLost": (GainLost(), None),
    "GradedPairs": (GradedPairs(), None),
    "Abandonment(k=2)": (
        Abandonment(k=2),
        [np.array(y, dtype=float) for y in ([2, 0, 1, 0, 2], [0, 1, 2, 0])],
    ),
}
