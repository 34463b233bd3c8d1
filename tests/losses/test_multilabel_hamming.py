"""Multi-label classification: argmaxes, bounds and fits against enumeration, and the conventions of scikit-learn."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import hamming_loss, mutual_info_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import MultiLabelHamming
from structsvm.problem.oracle import PythonOracle, make_oracle
from structsvm.result import Status
from structsvm.solvers import FrankWolfe, OneSlack
from structsvm.testing import check_loss, check_operator
from tests.losses.exhaustive import solve

COST = np.array([[0.0, 2.0], [0.5, 0.0]])
PATH = [(0, 1), (3, 1)]
RING = [(0, 1), (1, 2), (2, 3), (0, 3)]
KINDS = ["none", "tree", "complete", PATH, RING]
each_kind = pytest.mark.parametrize("edges", KINDS, ids=["none", "tree", "complete", "forest", "ring"])


def labeled(n: int, L: int = 4, d: int = 3, seed: int = 0, tie: float = 1.0) -> tuple[Matrix, Any]:
    """Rows of features, and labels that depend on them and on the label before."""
    rng = np.random.default_rng(seed)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((L, d))
    y = np.zeros((n, L), dtype=int)
    for label in range(L):
        y[:, label] = X @ W[label] + (tie * (2.0 * y[:, label - 1] - 1.0) if label else 0.0) > rng.standard_normal(n)
    return X, y


def planes(x: Vector, y: Any, loss: MultiLabelHamming) -> tuple[Matrix, Vector]:
    """Return ``Ψ(x, y) − Ψ(x, ŷ)`` and Δ(y, ŷ) of all outputs ŷ, without code of the package."""
    L = len(y)
    table = 1.0 - np.eye(2) if loss.cost is None else np.asarray(loss.cost)

    def joint(z: Any) -> Vector:
        by_label, by_pair = np.outer(z, x), np.zeros((len(loss.edges), 2, 2))
        for e, (u, v) in enumerate(loss.edges):
            by_pair[e, z[u], z[v]] = 1.0
        return np.concatenate((by_label.ravel(), by_pair.ravel()))

    outputs = list(product((0, 1), repeat=L))
    losses = [sum(table[a, b] for a, b in zip(y, z, strict=True)) / (L if loss.average else 1) for z in outputs]
    return np.stack([joint(y) - joint(z) for z in outputs]), np.array(losses)


def listed(loss: MultiLabelHamming, y: Any) -> MultiLabelHamming:
    """Return the bound loss with its edges as pairs, whatever named them."""
    named: dict[Any, Any] = {"none": (), "complete": tuple(combinations(range(y.shape[1]), 2))}
    bound = loss.bind(y)
    return MultiLabelHamming(named.get(bound.edges, bound.edges), bound.average, bound.cost)


@settings(max_examples=60)
@given(
    edges=st.sampled_from(KINDS),
    average=st.booleans(),
    cost=st.sampled_from([None, COST]),
    inference=st.sampled_from(["auto", "relaxation"]),
    scale=st.sampled_from([0.0, 0.1, 1.0, 10.0]),
    seed=st.integers(0, 10**6),
)
def test_argmaxes_and_bounds_by_enumeration(
    edges: Any, average: bool, cost: Any, inference: str, scale: float, seed: int
) -> None:
    X, y = labeled(5, seed=seed)
    loss = MultiLabelHamming(edges, average, cost, inference)
    examples = loss.examples(X, y)
    w = scale * np.round(2.0 * np.random.default_rng(seed).standard_normal(examples.operator.d))
    expected = [planes(*each, listed(loss, y)) for each in zip(X, y, strict=True)]
    hinges = np.array([(L - G @ w).max() for G, L in expected])
    scores, ptr = examples.operator.scores(w), examples.ptr
    for oracle in (make_oracle(examples.loss, y), PythonOracle(examples.loss, y)):
        result = oracle.planes(scores, ptr, np.ones(5))
        reached = result.loss - result.dots(scores, ptr)
        assert result.missed is not None
        assert (reached <= hinges + 1e-9).all()
        assert (reached + result.missed >= hinges - 1e-9).all()
        assert (result.missed <= 1e-6).all()
    places = [int("".join(map(str, row)), 2) for row in examples.loss.predict(X, w)]
    margins = [(G @ w)[place] - (G @ w).min() for (G, _), place in zip(expected, places, strict=True)]
    assert max(margins) <= 1e-9


@pytest.mark.parametrize(
    ("L", "n", "inference"), [(8, 20, "auto"), (10, 20, "auto"), (17, 4, "auto"), (17, 2, "relaxation")]
)
def test_many_labels_by_enumeration(L: int, n: int, inference: str) -> None:
    """More than 16 labels of a graph with cycles are not enumerated but pass messages."""
    X, y = labeled(n, L)
    examples = MultiLabelHamming("complete", inference=inference, accuracy=1e-9).examples(X, y)
    rng, outputs = np.random.default_rng(0), np.array(list(product((0, 1), repeat=L)))
    pairs = np.array(list(combinations(range(L), 2)))
    missed = []
    for scale in (0.05, 0.2, 1.0):
        own, tables = rng.standard_normal((n, L)), scale * rng.standard_normal((len(pairs), 2, 2))
        of_pairs = sum(table[outputs[:, u], outputs[:, v]] for table, (u, v) in zip(tables, pairs, strict=True))
        scores = np.concatenate((own.ravel(), tables.ravel()))
        result = make_oracle(examples.loss, y).planes(scores, examples.ptr, np.ones(n))
        reached = result.loss - result.dots(scores, examples.ptr)
        values = np.stack([(outputs != y[i]).mean(axis=1) + outputs @ own[i] + of_pairs for i in range(n)])
        truths = [int("".join(map(str, row)), 2) for row in y]
        hinges = values.max(axis=1) - values[np.arange(n), truths] + (outputs[truths] != y).mean(axis=1)
        assert result.missed is not None
        assert (reached <= hinges + 1e-9).all()
        assert (reached + result.missed >= hinges - 1e-12).all()
        missed.append(result.missed)
    assert (np.max(missed) > 1e-3) == (L > 16)


@pytest.mark.parametrize("settings", [{}, {"cost": COST, "average": False}, {"inference": "exact"}], ids=str)
@each_kind
def test_it_passes_check_loss(edges: Any, settings: Any) -> None:
    X, y = labeled(4)
    examples = MultiLabelHamming(edges, **settings).examples(X, y)
    check_operator(examples.operator)
    check_loss(examples.loss, list(y), trials=4)


@each_kind
def test_the_kernel_writes_the_planes_of_python(edges: Any) -> None:
    X, y = labeled(30)
    examples = MultiLabelHamming(edges, cost=COST).examples(X, y)
    w = np.random.default_rng(1).standard_normal(examples.operator.d)
    scores, ptr = examples.operator.scores(w), examples.ptr
    kernel = make_oracle(examples.loss, y).argmaxes(scores, ptr, np.ones(30))
    python = PythonOracle(examples.loss, y).argmaxes(scores, ptr, np.ones(30))
    np.testing.assert_allclose(kernel.loss, python.loss, rtol=1e-14)
    np.testing.assert_array_equal(kernel.coef, python.coef)
    np.testing.assert_allclose(kernel.missed, python.missed, atol=1e-12)


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-6), FrankWolfe(tol=1e-6)], ids=repr)
@each_kind
def test_the_optimum_of_an_enumerated_qp(edges: Any, solver: Any) -> None:
    X, y = labeled(8)
    C, loss = 3.0, MultiLabelHamming(edges)
    expected = [planes(*each, listed(loss, y)) for each in zip(X, y, strict=True)]
    w, lower = solve(expected, np.full(8, C / 8))
    optimum = 0.5 * w @ w + C / 8 * sum((L - G @ w).max() for G, L in expected)
    assert optimum - lower <= 1e-7 * optimum
    result = solver.solve(Problem.from_examples(X, y, loss=loss, C=C))
    assert result.status is Status.CONVERGED
    assert result.dual <= optimum * (1 + 1e-9)
    assert result.primal == pytest.approx(optimum, rel=1e-5)


def test_without_edges_it_is_one_svm_per_label() -> None:
    X, y = labeled(60)
    ours = StructuralSVM(MultiLabelHamming("none", average=False), C=60 * 0.5, tol=1e-8).fit(X, y)
    theirs = OneVsRestClassifier(LinearSVC(C=0.5, loss="hinge", fit_intercept=False, tol=1e-8, max_iter=10**6))
    theirs.fit(X, y)
    expected = np.concatenate([each.coef_ for each in theirs.estimators_])
    np.testing.assert_allclose(ours.coef_.reshape(4, 3), expected, atol=1e-3)
    shares = StructuralSVM(MultiLabelHamming("none"), C=60 * 0.5 / 4, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(shares.coef_.reshape(4, 3), expected / 4, atol=1e-3)
    assert (ours.predict(X) == theirs.predict(X)).all()


def test_the_tree_has_the_largest_mutual_information() -> None:
    _, y = labeled(200, L=5, seed=3)
    weight = {(u, v): mutual_info_score(y[:, u], y[:, v]) for u, v in combinations(range(5), 2)}

    def is_tree(edges: Any) -> bool:
        ends = np.array(edges).T
        return connected_components(sp.coo_array((np.ones(4), (ends[0], ends[1])), shape=(5, 5)))[0] == 1

    trees = [edges for edges in combinations(weight, 4) if is_tree(edges)]
    assert MultiLabelHamming("tree").bind(y).edges == max(trees, key=lambda edges: sum(weight[e] for e in edges))


def test_labels_that_say_nothing_about_others_stay_alone() -> None:
    y = np.array([[0, 0, 1, 1], [0, 1, 1, 1], [1, 0, 0, 1], [1, 1, 0, 1]])
    assert MultiLabelHamming("tree").bind(y).edges == ((0, 2),)
    assert MultiLabelHamming("tree").bind(y[:, :1]).edges == ()


@pytest.mark.parametrize(
    "edges", ["tree", *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS if kind != "tree")], ids=str
)
def test_scikit_learn(edges: Any, tmp_path: Any) -> None:
    X, y = labeled(90)
    model = StructuralSVM(MultiLabelHamming(edges), C=10.0, fit_intercept=True).fit(X[:60], y[:60])
    result = model.predict(X[60:])
    assert result.shape == (30, 4)
    assert result.dtype == np.int64
    assert model.score(X[60:], y[60:]) == pytest.approx(1.0 - hamming_loss(y[60:], result))
    model.save(tmp_path / "model.npz")
    assert (StructuralSVM.load(tmp_path / "model.npz").predict(X[60:]) == result).all()
    for same in (sp.csr_array(y[:60]), y[:60].tolist(), y[:60] == 1, y[:60].astype(float)):
        assert (model.fit(X[:60], same).predict(X[60:]) == result).all()
    assert (model.fit(sp.csr_array(X[:60]), y[:60]).predict(X[60:]) != result).mean() < 0.03
    assert [each.C for each in model.path(X, sp.csr_array(y), [1.0, 10.0])] == [1.0, 10.0]


def test_bad_input() -> None:
    X, y = labeled(6)
    svm = StructuralSVM("multilabel_hamming")
    with pytest.raises(InputError, match="with a row per example and a column per label, got shape .6,.: sklearn.prep"):
        svm.fit(X, y[:, 0])
    with pytest.raises(InputError, match="y must be an indicator matrix, .* got a list: sklearn.preprocessing.Multi"):
        svm.fit(X, [["a"], ["a", "b"], [], ["b"], [], []])
    with pytest.raises(InputError, match="y must contain 0 and 1 only: example 3 has -1 in column 2"):
        svm.fit(X, np.where(np.arange(24).reshape(6, 4) == 14, -1, y))
    with pytest.raises(InputError, match="y must contain 0 and 1 only: example 2 has nan in column 1"):
        svm.fit(X, np.where(np.arange(24).reshape(6, 4) == 9, np.nan, y))
    with pytest.raises(InputError, match="6 inputs and 5 outputs"):
        svm.fit(X, y[:5])
    with pytest.raises(InputError, match="y has 4 columns, and there are 3 labels: give a column for each"):
        StructuralSVM(MultiLabelHamming(n_labels=3)).fit(X, y)
    with pytest.raises(InputError, match="example 0: an output must be 4 indicators, 0 or 1, one per label; got"):
        svm.fit(X, y).score(X, y[:, :3])
    with pytest.raises(InputError, match=r"must join different columns of y, 0 to 3: edge 1 is \(1, 4\)"):
        StructuralSVM(MultiLabelHamming([(0, 1), (1, 4)])).fit(X, y)
    with pytest.raises(InputError, match=r"edge 0 is \(2, 2\)"):
        StructuralSVM(MultiLabelHamming([(2, 2)])).fit(X, y)
    for edges in ("full", [0, 1], [(0, 1, 2)], [(0.5, 1)], 3):
        with pytest.raises(InputError, match="'tree', 'complete' .all pairs., or pairs of columns of y"):
            MultiLabelHamming(edges)
    with pytest.raises(InputError, match=r"MultiLabelHamming\(cost=...\) is 3 x 3: give a row and a column for 0"):
        MultiLabelHamming(cost=1.0 - np.eye(3))
    with pytest.raises(InputError, match="the labels are not known yet"):
        MultiLabelHamming().argmax(np.zeros(3))
    with pytest.raises(InputError, match="the tree is not known yet"):
        MultiLabelHamming(n_labels=3).argmax(np.zeros(3))
    with pytest.raises(InputError, match="use StructuralSVM"):
        Ranker("multilabel_hamming").fit(X, y[:, 0])
