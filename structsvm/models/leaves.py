"""Models of `TreeRanker`: values of the leaves of trees, and weights of features beside them."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from attrs import evolve, field, frozen
from numpy.typing import NDArray

from structsvm.foundation.settings import require_switch
from structsvm.foundation.storage.archives import finite_numbers, require_numbers
from structsvm.foundation.types import IntVector, Vector
from structsvm.models.base import Parts, TrainedModel, at_limits
from structsvm.models.explanation import Explanation
from structsvm.models.linear import LinearModel
from structsvm.models.rows import filled
from structsvm.models.trees import DECISIONS

_AT_ONCE = 2**18
"""Number of leaves found at a time."""

ZERO = float(np.float32(1e-35))
"""Largest magnitude that LightGBM counts as zero."""

LEFT, ZERO_MISSING, NAN_MISSING = 2, 4, 8
"""Bits of a decision: missing values go left; zeros and NaN, or NaN alone, are missing."""


class Routes(NamedTuple):
    """The nodes on the way of each row to its leaf in one tree: masked node numbers, and whether the row went left."""

    rows: IntVector
    nodes: IntVector
    left: NDArray[np.bool_]


@frozen(eq=False)
class Trees:
    """Binary trees, whose splits are stored one tree after another; a tree of one leaf has no split.

    Parameters
    ----------
    splits : first split of each tree, shape (T + 1,), from 0; the first split of a tree is its root.
    feature, threshold : feature and threshold of each split, shape (S,). A row goes left if its feature is at most the
        threshold.
    decision : handling of missing values, in LightGBM's coding, shape (S,): the sum of 2 if missing values go left, and
        of 4 if zeros and NaN are missing, or 8 if NaN is. If no value is missing (0 or 2), NaN counts as 0.
    left, right : children of each split, shape (S,): a split, or ``−1 − k`` for leaf k of the tree.
    single : features are rounded to float32 first.
    """

    splits: IntVector
    feature: IntVector
    threshold: Vector
    decision: NDArray[np.uint8]
    left: IntVector
    right: IntVector
    single: bool = False

    @property
    def offsets(self) -> IntVector:
        """First leaf of each tree when the leaves of all trees are numbered, shape (T + 1,)."""
        return self.splits + np.arange(len(self.splits))

    @property
    def missing_left(self) -> NDArray[np.bool_]:
        """True for splits that NaN passes to the left, shape (S,)."""
        missing = self.decision & (ZERO_MISSING | NAN_MISSING) > 0
        return np.asarray(np.where(missing, self.decision & LEFT > 0, self.threshold >= 0.0))

    @property
    def zeros_apart(self) -> NDArray[np.bool_]:
        """True for splits that do not compare zeros with the threshold, but count them as missing, shape (S,)."""
        return np.asarray((self.decision & ZERO_MISSING > 0) & (self.missing_left != (self.threshold >= 0.0)))

    @property
    def double(self) -> "Trees":
        """Trees of equal leaves that do not round features to float32."""
        if not self.single:
            return self
        below = largest_float32(self.threshold)
        with np.errstate(over="ignore"):
            down, up = (np.nextafter(below, np.float32(end)).astype(np.float64) for end in (-np.inf, np.inf))
            # The step up from the largest float32 number is that down from it.
            half = below + np.where(np.isfinite(up), up - below, below - down) / 2.0
            # A number halfway between two float32 numbers is rounded to the even one.
            threshold = np.where(half.astype(np.float32) <= below, half, np.nextafter(half, -np.inf))
        return evolve(self, threshold=threshold, single=False)

    def leaves(self, X: Any) -> NDArray[np.unsignedinteger[Any]]:
        """Return the leaf of each row in each tree, from 0, shape (rows, T), in the smallest type."""
        trees = len(self.splits) - 1
        reached = np.zeros((X.shape[0], trees), np.min_scalar_type(int(np.diff(self.splits).max())))
        step = max(1, _AT_ONCE // max(1, trees))
        for start in range(0, X.shape[0], step):
            block = self._dense(X[start : start + step])
            at = np.where(np.diff(self.splits) > 0, self.splits[:-1], -1) + np.zeros((len(block), 1), dtype=np.int64)
            rows, columns = np.nonzero(at >= 0)
            while len(rows):
                nodes = at[rows, columns]
                nodes = np.where(self._goes_left(block, rows, nodes), self.left[nodes], self.right[nodes])
                at[rows, columns] = nodes
                inner = nodes >= 0
                rows, columns = rows[inner], columns[inner]
            reached[start : start + step] = -1 - at
        return reached

    def routes(self, X: NDArray[Any]) -> Iterator[Routes]:
        """Yield the splits that rows pass, of all trees at once, from the roots down; X is dense."""
        block = self._dense(X)
        roots = self.splits[:-1][np.diff(self.splits) > 0]
        rows, nodes = np.repeat(np.arange(len(block)), len(roots)), np.tile(roots, len(block))
        while len(rows):
            left = self._goes_left(block, rows, nodes)
            yield Routes(rows, nodes, left)
            nodes = np.where(left, self.left[nodes], self.right[nodes])
            rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]

    def tree_of_split(self) -> IntVector:
        """Return the tree of each split, shape (S,)."""
        return np.repeat(np.arange(len(self.splits) - 1), np.diff(self.splits))

    def depths(self) -> IntVector:
        """Return the number of splits above each split, shape (S,)."""
        depth = np.zeros(len(self.feature), dtype=np.int64)
        for node, children in enumerate(zip(self.left.tolist(), self.right.tolist(), strict=True)):
            for child in children:
                if child >= 0:
                    depth[child] = depth[node] + 1
        return depth

    def _goes_left(self, X: NDArray[Any], rows: IntVector, nodes: IntVector) -> NDArray[np.bool_]:
        values, decision = X[rows, self.feature[nodes]], self.decision[nodes]
        lost, small = np.isnan(values), np.abs(values) <= ZERO
        missing = np.where(decision & ZERO_MISSING > 0, lost | small, lost & (decision & NAN_MISSING > 0))
        below = np.where(lost, 0.0, values) <= self.threshold[nodes]
        return np.where(missing, decision & LEFT > 0, below)

    def _dense(self, rows: Any) -> NDArray[Any]:
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return dense.astype(np.float32) if self.single else dense

    def _check(self, n_features: int) -> None:
        """Raise ValueError if the splits do not make trees over this number of features."""
        splits, S = self.splits, len(self.feature)
        if len(splits) < 2 or splits[0] != 0 or splits[-1] != S or (np.diff(splits) < 0).any():
            raise ValueError("'splits' must begin with 0, never fall, and end with the number of splits")
        if S and not 0 <= self.feature.min() <= self.feature.max() < n_features:
            raise ValueError(f"'split_feature' must be from 0 to {n_features - 1}")
        if not np.isin(self.decision, DECISIONS).all():
            raise ValueError("'decision' must be 0, 2, 4, 6, 8 or 10")
        numbers = np.arange(S)
        for tree, (first, last) in enumerate(zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)):
            children = np.concatenate([self.left[first:last], self.right[first:last]])
            expected = (
                np.concatenate([np.arange(first - last - 1, 0), np.arange(first + 1, last)]) if last > first else ()
            )
            parents = np.concatenate([numbers[first:last]] * 2)
            if not np.array_equal(np.sort(children), expected) or ((children >= 0) & (children <= parents)).any():
                raise ValueError(f"the splits of tree {tree} do not make a tree")


@frozen(eq=False, slots=False, kw_only=True)
class LeafModel(TrainedModel):
    """Scores of the leaves that a document falls into, plus a weighted sum of its features.

    Parameters
    ----------
    n_features, feature_names, categories, fill, training, calibration : see `TrainedModel`.
    trees : the splits.
    values : value of each leaf, all trees one after another.
    counts : number of training rows in each leaf, from which `explain` averages the values of subtrees.
    linear : weights of the features; None: leaves only. Missing features count 0 there.
    """

    form: ClassVar[str] = "leaves"
    array_names: ClassVar[tuple[str, ...]] = (
        *("splits", "split_feature", "threshold", "decision", "left", "right", "values", "counts"),
        *LinearModel.array_names,
    )
    takes_sparse: ClassVar[bool] = True
    takes_missing: ClassVar[bool] = True

    trees: Trees = field(repr=False)
    values: Vector = field(repr=False)
    counts: IntVector = field(repr=False)
    linear: LinearModel | None = field(default=None, repr=False)

    @property
    def by_query(self) -> bool:
        return self.linear is not None and self.linear.by_query

    def parts(self) -> Parts:
        """Return the importance of each feature: how much its splits spread the values of the training rows."""
        spread = np.zeros(self.n_features)
        sums, counts = self.inner()
        left, right = self._children(sums, counts)
        total = np.maximum(left.counts + right.counts, 1)
        gains = left.counts * right.counts / total * (left.means - right.means) ** 2
        np.add.at(spread, self.trees.feature, gains)
        note = "Importances are sums of squares of leaf values that splits explain."
        if self.linear is None:
            return Parts.of("importance", spread, note)
        weights = self.linear.coef
        order = np.lexsort((-np.abs(weights), -spread))
        shown = order[(spread[order] != 0.0) | (weights[order] != 0.0)].tolist()
        rows = tuple({"feature": k, "value": float(spread[k]), "weight": float(weights[k])} for k in shown)
        scaled = "" if self.linear.scaling is None else f", normalized ({self.linear.scaling.name})"
        notes = [note, f"Weights belong to the features beside the trees{scaled}."]
        if len(shown) < self.n_features:
            zero = self.n_features - len(shown)
            notes.append(f"{zero} of {self.n_features} features have importance 0 and weight 0.")
        return Parts("importance", rows, tuple(notes))

    def limits(self) -> list[str | None]:
        if self.linear is None:
            return super().limits()
        return at_limits(self.linear.coef, self.training.weight_limits(self.n_features, self.feature_names))

    @classmethod
    def read(cls, numbers: Mapping[str, Any], arrays: Mapping[str, Any], common: Mapping[str, Any]) -> Self:
        threshold = finite_numbers(arrays, "threshold", (None,))
        S = threshold.shape
        whole = {name: _whole(arrays, name, S) for name in ("split_feature", "left", "right")}
        splits = _whole(arrays, "splits", (None,))
        require_numbers(arrays, "decision", S, np.uint8)
        require_switch("single", numbers["single"])
        decision, single = np.asarray(arrays["decision"]), numbers["single"]
        trees = Trees(splits, whole["split_feature"], threshold, decision, whole["left"], whole["right"], single)
        trees._check(common["n_features"])
        leaves = (len(threshold) + len(splits) - 1,)
        values, counts = finite_numbers(arrays, "values", leaves), _whole(arrays, "counts", leaves)
        if counts.min() < 0:
            raise ValueError("'counts' must be numbers of rows")
        linear = LinearModel.read(numbers, arrays, {"n_features": common["n_features"]}) if "coef" in arrays else None
        return cls(trees=trees, values=values, counts=counts, linear=linear, **common)

    def _arrays(self) -> dict[str, Any]:
        trees = self.trees
        return {
            "splits": trees.splits,
            "split_feature": trees.feature,
            "threshold": trees.threshold,
            "decision": trees.decision,
            "left": trees.left,
            "right": trees.right,
            "values": self.values,
            "counts": self.counts,
            **({} if self.linear is None else self.linear._arrays()),
        }

    def _sizes(self) -> dict[str, int]:
        return {"trees": len(self.trees.splits) - 1, "leaves": len(self.values)}

    def _numbers(self) -> dict[str, Any]:
        return {"single": self.trees.single, **({} if self.linear is None else self.linear._numbers())}

    def _scores(self, X: Any, qid: Any) -> Vector:
        table = self.values
        scores = np.zeros(X.shape[0])
        step = max(1, _AT_ONCE // max(1, len(self.trees.splits)))
        for start in range(0, X.shape[0], step):
            leaves = self.trees.leaves(X[start : start + step]) + self.trees.offsets[:-1]
            # Sum in the order of the trees, as the compiled training loop does.
            scores[start : start + step] = np.add.accumulate(table[leaves], axis=1)[:, -1]
        return scores if self.linear is None else scores + self.linear._scores(filled(X, 0.0), qid)

    def _explained(self, X: NDArray[Any], qid: Any) -> Explanation:
        """Give each split's change of the mean value of the training rows to its feature (Palczewska et al., 2014)."""
        contributions = np.zeros(X.shape)
        sums, counts = self.inner()
        left, right = self._children(sums, counts)
        means = sums / np.maximum(counts, 1)
        for rows, nodes, goes_left in self.trees.routes(X):
            change = np.where(goes_left, left.means[nodes], right.means[nodes]) - means[nodes]
            np.add.at(contributions, (rows, self.trees.feature[nodes]), change)
        roots = self.trees.splits[:-1][np.diff(self.trees.splits) > 0]
        single = self.trees.offsets[:-1][np.diff(self.trees.splits) == 0]
        base = float(means[roots].sum() + self.values[single].sum())
        if self.linear is None:
            return Explanation(contributions, base)
        linear = self.linear._explained(filled(X, 0.0), qid)
        return Explanation(contributions + linear.contributions, base + linear.base)

    def inner(self) -> tuple[Vector, IntVector]:
        """Return the sum of the values of the training rows below each split, and their number, shape (S,)."""
        trees = self.trees
        S = len(trees.feature)
        sums, counts = np.zeros(S), np.zeros(S, dtype=np.int64)
        first = trees.offsets[trees.tree_of_split()]
        # A child comes after its parent.
        for node in range(S - 1, -1, -1):
            for child in (trees.left[node], trees.right[node]):
                if child >= 0:
                    sums[node] += sums[child]
                    counts[node] += counts[child]
                else:
                    leaf = first[node] - 1 - child
                    sums[node] += self.values[leaf] * self.counts[leaf]
                    counts[node] += self.counts[leaf]
        return sums, counts

    def _children(self, sums: Vector, counts: IntVector) -> "tuple[_Children, _Children]":
        """Return counts of training rows and means of their values in the left and right child of each split."""
        trees = self.trees
        first = trees.offsets[trees.tree_of_split()]

        def of(child: IntVector) -> _Children:
            inner = np.maximum(child, 0)
            leaf = np.where(child < 0, first - 1 - child, 0)
            number = np.where(child >= 0, counts[inner], self.counts[leaf])
            below = sums[inner] / np.maximum(counts[inner], 1)
            return _Children(number, np.where(child >= 0, below, self.values[leaf]))

        return of(trees.left), of(trees.right)


class _Children(NamedTuple):
    counts: IntVector
    means: Vector


def largest_float32(values: Vector) -> NDArray[np.float32]:
    """Return the largest finite float32 number up to each value, or the smallest of all."""
    largest = np.finfo(np.float32).max
    rounded = np.clip(values, -largest, largest).astype(np.float32)
    with np.errstate(over="ignore"):
        down = np.nextafter(rounded, np.float32(-np.inf))
    return np.clip(np.where(rounded > values, down, rounded), -largest, largest)


def _whole(arrays: Mapping[str, Any], name: str, shape: tuple[int | None, ...]) -> IntVector:
    require_numbers(arrays, name, shape, np.int64)
    return np.asarray(arrays[name])
