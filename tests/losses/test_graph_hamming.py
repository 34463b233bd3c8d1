"""Labels of graphs: argmaxes, bounds and fits against enumeration, forms of inputs, and bad input."""

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Problem, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.inference import Graph, grid_edges
from structsvm.losses import GraphHamming
from structsvm.problem.oracle import PythonOracle, make_oracle
from structsvm.result import Status
from structsvm.solvers import FrankWolfe, OneSlack
from structsvm.testing import check_loss, check_operator
from tests.losses.exhaustive import solve
from tests.losses.small_labeled_graphs import COST, labeled_graphs, planes
from tests.slow import slow

OPTIONS = st.fixed_dictionaries(
    {
        "average": st.booleans(),
        "cost": st.sampled_from([None, COST]),
        "symmetric": st.booleans(),
        "inference": st.sampled_from(["auto", "auto", "relaxation", "exact"]),
    }
)


@settings(max_examples=20)
@given(
    options=OPTIONS,
    kind=st.sampled_from(["forest", "any"]),
    of_edges=st.booleans(),
    scale=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    seed=st.integers(0, 10**6),
)
def test_argmaxes_and_bounds_by_enumeration(options: Any, kind: str, of_edges: bool, scale: float, seed: int) -> None:
    require_argmaxes(GraphHamming(range(3), **options), kind, of_edges, scale, np.random.default_rng(seed))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_argmaxes_and_bounds_of_2000_graphs(part: int) -> None:
    rng = np.random.default_rng(part)
    for trial in range(50):
        options = {
            "average": trial % 2 == 0,
            "symmetric": trial % 3 == 0,
            "cost": COST if trial % 5 == 0 else None,
            "inference": ("auto", "auto", "relaxation", "exact")[trial % 4],
        }
        kind, scale = ("any", "forest")[trial % 7 == 0], 10.0 ** rng.uniform(-1, 1)
        require_argmaxes(GraphHamming(range(3), **options), kind, bool(rng.integers(2)), scale, rng)


def require_argmaxes(loss: GraphHamming, kind: str, of_edges: bool, scale: float, rng: np.random.Generator) -> None:
    """Compare argmaxes, bounds and predictions of two graphs with the enumeration of their outputs."""
    xs, ys = labeled_graphs(rng, 2, 3, kind, of_edges)
    examples = loss.examples(xs, ys)
    w = scale * np.round(2.0 * rng.standard_normal(examples.operator.d))
    listed = [planes(x, y, loss) for x, y in zip(xs, ys, strict=True)]
    hinges = np.array([(L - G @ w).max() for G, L in listed])
    scores, ptr = examples.operator.scores(w), examples.ptr
    # The integer program of the search has a tolerance relative to the scores.
    close = loss.accuracy + 1e-5 * np.abs(scores).sum()
    exact = np.array([Graph.of(len(x[0]), x[1]).is_forest or loss.inference == "exact" for x in xs])
    for oracle in (make_oracle(loss, examples.ys), PythonOracle(loss, examples.ys)):
        result = oracle.planes(scores, ptr, np.ones(2))
        reached = result.loss - result.dots(scores, ptr)
        assert result.missed is not None
        assert (reached <= hinges + 1e-9).all()
        assert (reached + result.missed >= hinges - 1e-9).all()
        assert (result.missed[exact] <= close).all()
        assert (reached[exact] >= hinges[exact] - loss.accuracy).all()
    for y_hat, (x, y), (G, _), sure in zip(loss.predict(xs, w), zip(xs, ys, strict=True), listed, exact, strict=True):
        (margin,) = planes(x, y, loss, [y_hat])[0] @ w
        assert margin >= (G @ w).min() - 1e-9
        assert margin <= (G @ w).min() + loss.accuracy or not sure


@pytest.mark.parametrize(
    "options", [{"symmetric": True, "cost": COST, "average": False}, *slow({}, {"inference": "exact"})]
)
@pytest.mark.parametrize("of_edges", [False, True])
@pytest.mark.parametrize("kind", ["forest", "any"])
def test_it_passes_check_loss(options: Any, of_edges: bool, kind: str) -> None:
    xs, ys = labeled_graphs(np.random.default_rng(7), 4, 3, kind, of_edges, most=5)
    examples = GraphHamming(range(3), **options).examples(xs, ys)
    check_operator(examples.operator)
    check_loss(examples.loss, examples.ys, trials=4)


@pytest.mark.parametrize("of_edges", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_the_kernel_writes_the_planes_of_python(of_edges: bool, symmetric: bool) -> None:
    rng = np.random.default_rng(3)
    xs, ys = labeled_graphs(rng, 20, 3, "any", of_edges)
    examples = GraphHamming(range(3), symmetric=symmetric, cost=COST, accuracy=1e-15).examples(xs, ys)
    scores, ptr = examples.operator.scores(rng.standard_normal(examples.operator.d)), examples.ptr
    kernel = make_oracle(examples.loss, examples.ys).argmaxes(scores, ptr, np.ones(20))
    python = PythonOracle(examples.loss, examples.ys).argmaxes(scores, ptr, np.ones(20))
    np.testing.assert_allclose(kernel.loss, python.loss, rtol=1e-14)
    np.testing.assert_array_equal(kernel.coef, python.coef)
    np.testing.assert_allclose(kernel.missed, python.missed, atol=1e-9)
    if kernel.shared is not None and python.shared is not None:
        np.testing.assert_array_equal(kernel.shared.toarray(), python.shared.toarray())


@pytest.mark.parametrize("average", [False, *slow(True)])
@pytest.mark.parametrize("of_edges", [False, True])
@pytest.mark.parametrize("solver", [OneSlack(tol=1e-6), FrankWolfe(tol=1e-6)], ids=repr)
def test_the_optimum_of_an_enumerated_qp(average: bool, of_edges: bool, solver: Any) -> None:
    """Joint features, losses and outputs of the QP share no code with the package."""
    xs, ys = labeled_graphs(np.random.default_rng(1), 8, 3, "any", of_edges, most=6)
    loss, C = GraphHamming(range(3), average=average, inference="exact", accuracy=1e-9), 3.0
    listed = [planes(x, y, loss) for x, y in zip(xs, ys, strict=True)]
    w, lower = solve(listed, np.full(8, C / 8))
    optimum = 0.5 * w @ w + C / 8 * sum((L - G @ w).max() for G, L in listed)
    assert optimum - lower <= 1e-7 * optimum
    result = solver.solve(Problem.from_examples(xs, ys, loss=loss, C=C))
    assert result.status is Status.CONVERGED
    assert result.dual <= optimum * (1 + 1e-9)
    assert result.primal == pytest.approx(optimum, rel=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(10))
def test_bounds_of_200_fits_hold_against_an_enumerated_qp(part: int) -> None:
    for trial in range(20):
        rng = np.random.default_rng([part, trial])
        inference, of_edges = ("auto", "auto", "relaxation", "exact")[trial % 4], bool(rng.integers(2))
        xs, ys = labeled_graphs(rng, 6, 3, "any", of_edges, most=6)
        loss = GraphHamming(
            range(3),
            average=trial % 2 == 0,
            symmetric=trial % 3 == 0,
            cost=COST if trial % 5 == 0 else None,
            inference=inference,
        )
        C = 10.0 ** rng.uniform(-1, 2)
        listed = [planes(x, y, loss) for x, y in zip(xs, ys, strict=True)]
        w, lower = solve(listed, np.full(6, C / 6))
        upper = 0.5 * w @ w + C / 6 * sum((L - G @ w).max() for G, L in listed)
        assert upper - lower <= 5e-6 * (1.0 + upper)
        solver = (OneSlack(), FrankWolfe(), OneSlack(line_search=False))[trial % 3]
        result = solver.solve(Problem.from_examples(xs, ys, loss=loss, C=C))
        reached = 0.5 * result.w @ result.w + C / 6 * sum((L - G @ result.w).max() for G, L in listed)
        assert result.certified
        assert result.dual <= upper * (1 + 1e-9)
        assert result.primal >= max(lower, reached) * (1 - 1e-9)
        assert result.primal <= reached + result.inference_gap + 1e-9 * (1.0 + reached)
        assert result.status in (Status.CONVERGED, Status.INFERENCE_LIMIT, Status.STALLED)
        assert result.inference_gap <= 2e-4 * C or inference != "exact"


def grids(n: int, seed: int, *, of_edges: bool = False) -> tuple[list[Any], list[Any]]:
    """Noisy pictures of 6 x 7 pixels in which a part on the right is set."""
    rng, edges = np.random.default_rng(seed), grid_edges(6, 7)
    xs, ys = [], []
    for _ in range(n):
        y = (np.arange(7) >= rng.integers(7, size=(6, 1)) // 2 + rng.integers(4)).astype(int).ravel()
        x = (y + rng.standard_normal(42))[:, None] - 0.5
        xs.append((x, edges, np.eye(2)[(edges[:, 1] - edges[:, 0] == 1).astype(int)]) if of_edges else (x, edges))
        ys.append(y)
    return xs, ys


def test_exact_inference_goes_on_from_messages() -> None:
    """A single sweep of messages leaves a gap, which exact inference closes from the same weights."""
    rng, edges = np.random.default_rng(0), grid_edges(4, 4)
    ys = [rng.integers(3, size=16) for _ in range(12)]
    xs = [(np.eye(3)[y] + 1.5 * rng.standard_normal((16, 3)), edges) for y in ys]
    svm = StructuralSVM(GraphHamming(max_sweeps=1, accuracy=0.1), C=20.0, warm_start=True)
    with pytest.warns(match="inference: "):
        svm.fit(xs, ys)
    first = svm.result_
    assert first.status is Status.INFERENCE_LIMIT
    svm.set_params(loss=GraphHamming(inference="exact")).fit(xs, ys)
    assert svm.result_.status is Status.CONVERGED
    assert svm.result_.inference_gap <= 0.1 * first.tol * first.C
    assert first.dual <= svm.result_.primal <= first.primal


def test_sparse_and_dense_features_agree() -> None:
    xs, ys = grids(10, 2, of_edges=True)
    dense = StructuralSVM(GraphHamming(), C=5.0).fit(xs, ys)
    sparse = [(sp.csr_array(x), edges, sp.csr_matrix(z)) for x, edges, z in xs]
    np.testing.assert_allclose(StructuralSVM(GraphHamming(), C=5.0).fit(sparse, ys).coef_, dense.coef_, atol=1e-6)
    for one, other in zip(dense.predict(sparse), dense.predict(xs), strict=True):
        np.testing.assert_array_equal(one, other)


def test_labels_come_back_as_they_were_given_and_files_too(tmp_path: Any) -> None:
    xs, ys = grids(10, 3)
    names = [np.array(["no", "yes"])[y].tolist() for y in ys]
    svm = StructuralSVM(GraphHamming(average=False), C=5.0).fit(xs, names)
    assert svm.loss_.states == ("no", "yes")
    predicted = svm.predict(xs)
    assert set(predicted[0].tolist()) <= {"no", "yes"}
    assert svm.most_violated(xs[0], names[0]).output.shape == (42,)
    svm.save(tmp_path / "model.npz")
    for one, other in zip(StructuralSVM.load(tmp_path / "model.npz").predict(xs), predicted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_graph_without_edges_and_one_node() -> None:
    svm = StructuralSVM("graph_hamming", C=10.0).fit([([[1.0]], []), ([[-1.0], [-2.0]], [])], [[1], [0, 0]])
    assert [y.tolist() for y in svm.predict([([[3.0]], []), ([[-1.0]], [])])] == [[1], [0]]


X, RING, OF_EDGES, Y = np.eye(3), [[0, 1], [1, 2], [2, 0]], np.ones((3, 2)), [0, 1, 1]


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((X, [[0, 3]]), Y, r"example 1: edges must join nodes numbered from 0 to 2: edge 0 has \[0.0, 3.0\]"),
        ((X, [[0, 1], [1, -1]]), Y, r"example 1: .* edge 1 has \[1.0, -1.0\]"),
        ((X, [[0, 1], [1, 1]]), Y, "example 1: edges must join two nodes: edge 1 joins node 1 to itself"),
        ((X, [0, 1]), Y, r"example 1: edges must have the shape \(E, 2\)"),
        ((X, RING), [0, 1, 7], r"example 1: 7 is not among the states \(0, 1\)"),
        ((X, RING), [0, 1, [2]], "example 1: a label cannot be looked up"),
        ((X, RING), [0, 1], "example 1 has 3 nodes and 2 labels: give one label per row"),
        ((X, RING), 1, "example 1: an output of GraphHamming is a list"),
        ((X, RING), np.eye(3), r"example 1: .*, got shape \(3, 3\): flatten it with ravel\(\), or use argmax"),
        ((X, RING), [Y], "example 1: an output of GraphHamming is a list|example 1 has 3 nodes and 1 labels"),
        ((X, RING, OF_EDGES), Y, "example 0 has 2 parts and example 1 has 3: give edge features for every graph"),
        ((X,), Y, "example 1 must be .* got tuple of 1 parts"),
        (X, Y, "example 1 must be a tuple .* got ndarray. X is a list of these tuples, even for one graph"),
        ((X[0], RING), Y, r"example 1: node features must be a matrix with one row per node, got shape \(3,\)"),
        ((X[:, :2], RING), Y, "node features: .* example 0 has 3, example 1 has 2"),
        ((X[:0], []), [], "example 1 has no nodes: leave it out"),
        ((X * np.nan, RING), Y, "example 1 has features that are NaN"),
    ],
)
def test_bad_graphs_are_named(x: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        StructuralSVM(GraphHamming(states=[0, 1])).fit([(X, RING), x], [Y, y])


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((2, 2)), "example 1 has 3 edges and 2 rows of edge features: give one row per edge"),
        (np.ones(3), r"example 1: edge features must be a matrix with one row per edge, got shape \(3,\)"),
        (np.ones((3, 1)), "edge features: .* example 0 has 2, example 1 has 1"),
        (np.full((3, 2), np.nan), "example 1 has features that are NaN"),
    ],
)
def test_bad_features_of_edges_are_named(features: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        StructuralSVM(GraphHamming(states=[0, 1])).fit([(X, RING, OF_EDGES), (X, RING, features)], [Y, Y])


def test_bad_inputs_of_predictions_are_named() -> None:
    svm = StructuralSVM(GraphHamming()).fit([(X, RING)], [Y])
    for x, message in [
        ((X, [[1, 1]]), "example 1: edges must join two nodes"),
        ((X * np.nan, RING), "example 1 has features that are NaN"),
    ]:
        with pytest.raises(InputError, match=message):
            svm.predict([(X, RING), x])
    with pytest.raises(InputError, match="features for 8 weights, and the model has 10: give as many node features"):
        svm.predict([(X[:, :2], RING)])
    with pytest.raises(InputError, match="there are no inputs"):
        svm.predict([])
    with pytest.raises(InputError, match="example 1: the outputs have 2 and 3 labels"):
        svm.score([(X, RING), (X, RING)], [Y, Y[:2]])
    with pytest.raises(TypeError, match="needs the graph"):
        svm.loss_.argmax(np.zeros(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": [[0]]}, r"GraphHamming\(cost=...\) is 1 x 1, but there are 2 states"),
        ({"inference": "x"}, r"GraphHamming\(inference=...\) must be 'auto' or 'relaxation' or 'exact'"),
        ({"accuracy": -1.0}, "accuracy"),
        ({"max_sweeps": 0}, "max_sweeps"),
        ({"symmetric": "no"}, "symmetric"),
    ],
)
def test_options_of_the_wrong_form_are_named(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        GraphHamming([0, 1], **options)


@pytest.mark.parametrize("seed", range(4))
def test_the_inference_gap_is_part_of_the_gap(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ys = [((np.indices((5, 5)).sum(0) // 3 + rng.integers(3)) % 3).ravel() for _ in range(12)]
    xs = [(np.eye(3)[y] + rng.normal(size=(25, 3)), grid_edges(5, 5)) for y in ys]
    result = StructuralSVM(GraphHamming(), C=2.0, max_iter=60).fit(xs, ys).result_
    assert 0.0 <= result.inference_gap <= result.gap


ALLOWED = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]], dtype=bool)


@pytest.mark.parametrize("edges", [[[0, 1], [1, 2], [2, 3], [3, 0]], [[0, 1], [1, 2], [2, 3]]], ids=["ring", "chain"])
@pytest.mark.parametrize("inference", ["auto", "exact"])
def test_nodes_have_only_their_allowed_labels(edges, inference):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(30, 4, 3))
    xs = [(x, edges, ALLOWED) for x in features]
    ys = [["abc"[k] for k in np.where(ALLOWED, x, -np.inf).argmax(axis=1)] for x in features]
    loss = GraphHamming("abc", inference=inference)
    check_loss(loss, loss.examples(xs[:2], ys[:2]).ys)
    model = StructuralSVM(loss, C=10).fit(xs, ys)
    assert model.result_.gap <= 1e-3 * 10
    assert all(ALLOWED[range(4), ["abc".index(label) for label in y]].all() for y in model.predict(xs))
    known = (features[0], edges, np.eye(3, dtype=bool)[[2, 0, 1, 1]])
    assert model.predict([known])[0].tolist() == list("cabb")


@pytest.mark.parametrize(
    ("allowed", "message"),
    [
        (np.zeros((2, 3), dtype=bool), "no label is allowed at node 0"),
        (np.ones((3, 3), dtype=bool), r"give truth values of shape \(2, 3\)"),
    ],
)
def test_allowed_labels_that_do_not_fit_are_an_error(allowed, message):
    model = StructuralSVM(GraphHamming("abc")).fit([(np.ones((2, 1)), [[0, 1]])], [list("ab")])
    with pytest.raises(InputError, match=message):
        model.predict([(np.ones((2, 1)), [[0, 1]], allowed)])
    with pytest.raises(InputError, match="the true label 'b' is not allowed at node 1"):
        model.fit([(np.ones((2, 1)), [[0, 1]], np.eye(3, dtype=bool)[[0, 0]])], [list("ab")])
