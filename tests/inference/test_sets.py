"""Named feasible sets: maximizers against enumeration and SciPy, all outputs against their number, membership."""

from math import comb, factorial, inf

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import minimum_spanning_tree

from structsvm.exceptions import InputError, TooLargeError
from structsvm.inference.sets import (
    Alignment,
    Arborescence,
    Assignment,
    DirectedPath,
    Knapsack,
    ProjectiveTree,
    Segmentation,
    SpanningTree,
    Subset,
)


def random_edges(rng, nodes, more, *, acyclic=False):
    """Edges that lead from node 0 to all others, some of them parallel, with nodes named at random; and the names."""
    edges = [(int(rng.integers(node)), node) for node in range(1, nodes)]
    for _ in range(more if nodes > 1 else 0):
        pair = rng.choice(nodes, size=2, replace=False).tolist()
        edges.append(tuple(sorted(pair)) if acyclic else tuple(pair))
    names = rng.permutation(nodes).tolist()
    return [(names[edges[k][0]], names[edges[k][1]]) for k in rng.permutation(len(edges))], names


def spanning_tree(rng):
    nodes = int(rng.integers(1, 6))
    return SpanningTree(nodes, random_edges(rng, nodes, int(rng.integers(6)))[0])


def arborescence(rng):
    nodes = int(rng.integers(1, 7))
    edges, names = random_edges(rng, nodes, int(rng.integers(9)))
    return Arborescence(nodes, edges, names[0])


def directed_path(rng):
    nodes = int(rng.integers(1, 8))
    edges, names = random_edges(rng, nodes, int(rng.integers(10)), acyclic=True)
    return DirectedPath(nodes, edges, names[0], names[rng.integers(nodes)])


SMALL = {
    "Subset": lambda rng: Subset(6, int(rng.integers(7))),
    "Assignment": lambda rng: Assignment(*rng.integers(1, 5, 2).tolist(), partial=bool(rng.integers(2))),
    "DirectedPath": directed_path,
    "SpanningTree": spanning_tree,
    "Arborescence": arborescence,
    "ProjectiveTree": lambda rng: ProjectiveTree(int(rng.integers(1, 5))),
    "Alignment": lambda rng: Alignment(*rng.integers(1, 5, 2).tolist()),
    "Segmentation": lambda rng: Segmentation(*rng.integers(1, 5, 1).tolist(), *rng.integers(1, 4, 2).tolist()),
    "Knapsack": lambda rng: Knapsack(rng.integers(0, 5, int(rng.integers(1, 8))), int(rng.integers(0, 16))),
}
each_set = pytest.mark.parametrize("name", SMALL)


def random_scores(rng, size):
    scores = rng.standard_normal(size)
    kind = rng.integers(5)
    if kind == 1:
        scores = np.round(scores)
    elif kind == 2:
        scores = -np.abs(scores)
    elif kind == 3:
        scores = np.round(1e9 * scores) + rng.choice([0.0, 1e12])
    elif kind == 4:
        scores[rng.random(size) < rng.random()] = -inf
    return scores


def value(scores, output):
    return float(scores[output > 0.0].sum())


@each_set
def test_maximizers_agree_with_enumeration(name):
    rng = np.random.default_rng(0)
    for _ in range(150):
        feasible = SMALL[name](rng)
        outputs = [tuple(output) for output in feasible.outputs()]
        for _ in range(3):
            scores = random_scores(rng, feasible.size)
            best = max(value(scores, np.array(other)) for other in outputs)
            if best == -inf:
                with pytest.raises(InputError, match="no output without a part whose score is -inf"):
                    feasible.maximize(scores)
                continue
            output = feasible.maximize(scores)
            assert tuple(output) in outputs, (feasible, scores)
            size = np.abs(scores[scores > -inf]).sum()
            assert value(scores, output) == pytest.approx(best, rel=0.0, abs=1e-12 * size), (feasible, scores)


@each_set
def test_ties_are_broken_alike_with_and_without_compilation(name):
    rng = np.random.default_rng(1)
    for _ in range(20):
        feasible = SMALL[name](rng)
        scores = rng.integers(-1, 2, feasible.size).astype(float)
        out = np.full(feasible.size, np.nan)
        type(feasible).kernel(scores, feasible.data(), out)
        np.testing.assert_array_equal(feasible.maximize(scores), out)


@each_set
def test_sets_contain_their_outputs_and_nothing_else(name):
    rng = np.random.default_rng(2)
    for _ in range(20):
        feasible = SMALL[name](rng)
        outputs = {tuple(output): None for output in feasible.outputs()}
        for output in list(outputs)[:20]:
            assert feasible.contains(np.array(output))
            assert feasible.contains(output)
            assert not feasible.contains((*output, 1.0))
            if feasible.size:
                changed = np.array(output)
                flips = rng.integers(feasible.size, size=rng.integers(1, 3))
                changed[flips] = 1.0 - changed[flips]
                assert feasible.contains(changed) == (tuple(changed) in outputs)
                changed[flips] = 0.5
                assert not feasible.contains(changed)


def complete(nodes):
    return [(node, other) for node in range(nodes) for other in range(nodes) if node != other]


@pytest.mark.parametrize(
    ("feasible", "number"),
    [
        (Subset(7, 3), comb(7, 3)),
        (Assignment(3, 5), factorial(5) // factorial(2)),
        (Assignment(5, 3), factorial(5) // factorial(2)),
        (Assignment(3, 4, partial=True), sum(comb(3, k) * comb(4, k) * factorial(k) for k in range(4))),
        (DirectedPath.grid(4, 5), comb(3 + 4, 3)),
        (DirectedPath(8, [(u, v) for u, v in complete(8) if u < v], 0, 7), 2**6),
        (SpanningTree(5, [(u, v) for u, v in complete(5) if u < v]), 5**3),  # Cayley's formula
        (Arborescence(5, complete(5)), 5**3),
        (ProjectiveTree(4), comb(12, 4) // 9),  # ternary trees
        (ProjectiveTree(5), comb(15, 5) // 11),
        (Alignment(4, 5), comb(4 + 5, 4)),
        (Segmentation(6, labels=1, longest=6), 2**5),
        (Segmentation(6, labels=1, longest=2), 13),  # Fibonacci numbers
        (Segmentation(4, labels=3, longest=4), 3 * 4**3),
        (Knapsack([1] * 8, 3), sum(comb(8, k) for k in range(4))),
    ],
    ids=str,
)
def test_all_outputs_are_listed_once(feasible, number):
    outputs = {tuple(output) for output in feasible.outputs()}
    assert len(outputs) == len(list(feasible.outputs())) == number
    assert {len(output) for output in outputs} == {feasible.size}


@pytest.mark.parametrize(("rows", "columns"), [(30, 30), (20, 45), (45, 20), (1, 40), (40, 1)])
@pytest.mark.parametrize("digits", [0, 1, 12])
def test_assignments_agree_with_scipy(rows, columns, digits):
    scores = np.round(np.random.default_rng(rows).standard_normal((rows, columns)), digits)
    output = Assignment(rows, columns).maximize(scores.ravel()).reshape(rows, columns)
    assert (output.sum(axis=0) <= 1.0).all()
    assert (output.sum(axis=1) <= 1.0).all()
    assert output.sum() == min(rows, columns)
    best = scores[linear_sum_assignment(scores, maximize=True)].sum()
    assert (scores * output).sum() == pytest.approx(best, abs=1e-9)


def test_spanning_trees_agree_with_scipy():
    rng = np.random.default_rng(0)
    edges = [(u, v) for u, v in complete(30) if u < v]
    costs = np.zeros((30, 30))
    costs[tuple(np.transpose(edges))] = 1.0 + rng.random(len(edges))
    scores = -costs[tuple(np.transpose(edges))]
    output = SpanningTree(30, edges).maximize(scores)
    assert scores @ output == pytest.approx(-minimum_spanning_tree(costs).sum())


def test_large_arborescences_contain_nested_cycles_and_stay_trees():
    rng = np.random.default_rng(0)
    edges = complete(40)
    scores = rng.integers(0, 50, len(edges)) - 10.0 * np.abs(np.subtract(*np.transpose(edges)))
    feasible = Arborescence(40, edges, 7)
    output = feasible.maximize(scores)
    assert feasible.contains(output)
    heads = [head for part, (_, head) in enumerate(edges) if output[part]]
    assert sorted(heads) == [node for node in range(40) if node != 7]


def test_grids_have_the_order_of_pyepo():
    edges = [(0, 1), (1, 2), (0, 3), (1, 4), (2, 5), (3, 4), (4, 5)]
    assert DirectedPath.grid(2, 3) == DirectedPath(6, edges, 0, 5)


def test_path_may_end_at_its_source():
    assert DirectedPath(2, [[0, 1]], 0, 0).maximize([1.0]).tolist() == [0.0]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: Subset(2, 3), "k must be at most n"),
        (lambda: Assignment(0, 2), r"Assignment\(rows=...\) must be an integer of at least 1"),
        (lambda: Assignment(2, 2, partial=1), "True or False"),
        (lambda: DirectedPath(3, [[0, 1], [1, 2], [2, 1]], 0, 2), "from 1 to 2 to 1|from 2 to 1 to 2"),
        (lambda: DirectedPath(3, [[0, 1], [2, 1]], 0, 2), "no path leads from node 0 to node 2"),
        (lambda: DirectedPath(2, [[0, 2]], 0, 1), "edge 0 has"),
        (lambda: DirectedPath(2, [[0, 1]], 0, 5), "no path leads"),
        (lambda: SpanningTree(2.5, [[0, 1]]), r"SpanningTree\(nodes=...\) must be an integer"),
        (lambda: SpanningTree(4, [[0, 1], [2, 3]]), "no edges lead from node 0 to node 2"),
        (lambda: SpanningTree(2, [[0, 0], [0, 1]]), "joins node 0 to itself"),
        (lambda: SpanningTree(2, [0, 1]), r"\(E, 2\)"),
        (lambda: Arborescence(3, [[0, 1], [2, 1]], 0), "none lead from node 0 to node 2"),
        (lambda: Arborescence(3, [[0, 1], [1, 2]], 3), "none lead from node 3 to node 0"),
        (lambda: ProjectiveTree(0), "at least 1"),
        (lambda: Alignment(3, "2"), r"Alignment\(second=...\)"),
        (lambda: Segmentation(3, 2, 0), r"Segmentation\(longest=...\)"),
        (lambda: Knapsack([1, 2.5], 3), "item 1 has 2.5"),
        (lambda: Knapsack([1, -1], 3), "item 1 has -1"),
        (lambda: Knapsack([1, np.nan], 3), "item 1 has nan"),
        (lambda: Knapsack([[1, 2]], 3), "their shape is"),
        (lambda: Subset(3, 1).maximize([1.0, 2.0]), "scores must be 3 numbers"),
        (lambda: Subset(3, 1).maximize([1.0, np.nan, 2.0]), "part 1 has nan"),
        (lambda: Alignment(1, 1).maximize([np.inf]), "part 0 has inf"),
    ],
)
def test_invalid_settings_are_errors(call, words):
    with pytest.raises(InputError, match=words):
        call()


def test_knapsack_beyond_memory_is_an_error():
    with pytest.raises(TooLargeError, match="use a Program"):
        Knapsack([10**15], 10**15)
