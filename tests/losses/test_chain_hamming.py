"""Sequence labeling: Viterbi against enumeration, errors, and fits."""

from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from structsvm import Problem, Ranker, StructuralSVM
from structsvm.exceptions import InputError
from structsvm.features.operators import Rows
from structsvm.features.operators.composed import WithIntercept
from structsvm.foundation.types import Vector
from structsvm.losses import ChainHamming, ScoreLoss, SlackRescaled
from structsvm.problem.oracle import PythonOracle, make_oracle
from structsvm.solvers import FrankWolfe, OneSlack
from structsvm.testing import check_loss
from tests.small_problems import Listed, score_vectors


class PlainChain(ChainHamming):
    kernel = None


@st.composite
def chains(draw: st.DrawFn) -> tuple[ChainHamming, list[Any], list[Vector]]:
    """A loss of 1 to 4 states, true sequences, and scores for each: of any size, or with many ties."""
    K = draw(st.integers(1, 4))
    lengths = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))
    ys = [draw(st.lists(st.integers(0, K - 1), min_size=length, max_size=length)) for length in lengths]
    return ChainHamming(range(K)), ys, [draw(score_vectors(length * K + K * K)) for length in lengths]


def value(scores: Vector, path: Any, K: int) -> float:
    """The sum of emissions and transitions of a path, by the definition."""
    emissions, transitions = scores[: -K * K].reshape(-1, K), scores[-K * K :].reshape(K, K)
    steps = [transitions[j, k] for j, k in pairwise(path)]
    return float(sum(emissions[t, k] for t, k in enumerate(path)) + sum(steps))


@settings(max_examples=25)
@given(chain=chains(), seed=st.integers(0, 1000), trials=st.integers(0, 2))
def test_it_passes_check_loss(chain: Any, seed: int, trials: int) -> None:
    loss, ys, _ = chain
    check_loss(loss, ys, random_state=seed, trials=trials)
    check_loss(PlainChain(loss.states), ys, random_state=seed, trials=trials)


@given(chain=chains())
def test_the_encoding_counts_states_and_steps(chain: Any) -> None:
    loss, ys, scores = chain
    for y, s in zip(ys, scores, strict=True):
        assert loss.encode(y, y) @ s == pytest.approx(value(s, y, len(loss.states)), abs=1e-12)


@pytest.mark.parametrize(("T", "K"), [(1, 30), (200, 1), (200, 2), (70, 9), (1000, 5)])
@pytest.mark.parametrize("size", [0.01, 1.0, 30.0])
def test_the_kernel_writes_the_plane_of_the_same_path_as_python(T: int, K: int, size: float) -> None:
    rng = np.random.default_rng(T + K)
    loss, y = ChainHamming(range(K)), rng.integers(0, K, T)
    scores, ptr = size * rng.standard_normal(T * K + K * K), np.array([0, T * K + K * K])
    kernel = make_oracle(loss, [y]).planes(scores, ptr, np.ones(1))
    python = PythonOracle(loss, [y]).planes(scores, ptr, np.ones(1))
    assert kernel.loss[0] == python.loss[0]
    np.testing.assert_array_equal(kernel.coef, python.coef)


COST = [[0.0, 1.0, 2.0], [3.0, 0.0, 0.5], [1.0, 1.0, 0.0]]
OPTIONS = st.fixed_dictionaries(
    {
        "average": st.booleans(),
        "cost": st.sampled_from([None, COST]),
        "ends": st.booleans(),
        "transition_features": st.booleans(),
        "forbidden": st.sampled_from([(), ((2, 0), (1, 0)), ((0, 0),)]),
    }
)


@settings(max_examples=60)
@given(options=OPTIONS, numbers=st.lists(st.integers(0, 2), min_size=1, max_size=4), data=st.data())
def test_options_by_enumeration(options: Any, numbers: list[int], data: st.DataObject) -> None:
    loss = ChainHamming(range(3), **options)
    allowed = [path for path in product(range(3), repeat=len(numbers)) if loss.forbidden_at(path) is None]
    if tuple(numbers) not in allowed:
        with pytest.raises(InputError, match="forbidden transition from"):
            loss.labels(numbers)
        return
    y: Any = numbers
    if data.draw(st.booleans()):
        bits = data.draw(st.lists(st.booleans(), min_size=3 * len(y), max_size=3 * len(y)))
        mask = np.reshape(bits, (-1, 3)) | np.eye(3, dtype=bool)[numbers]
        (y,) = loss.examples([(np.ones((len(mask), 1)), mask)], [numbers]).ys
        allowed = [path for path in allowed if mask[range(len(path)), path].all()]
        assert sorted(map(tuple, loss.outputs(y))) == allowed
    rows = Rows(np.ones((len(numbers), 1)), np.array([0, len(numbers)]))
    own, shared = int(loss.operator(rows).ptr[-1]), loss.operator(rows).shared
    scores = data.draw(score_vectors(own + shared))
    plain = {path: loss.encode(path, y) @ scores for path in allowed}
    augmented = {path: loss.loss(y, path) + plain[path] for path in allowed}
    top, truth = tuple(loss.loss_augmented_argmax(scores, y)), plain[tuple(numbers)]
    assert plain[tuple(loss.prediction(scores, y))] == pytest.approx(max(plain.values()), abs=1e-9)
    assert augmented[top] == pytest.approx(max(augmented.values()), abs=1e-9)
    planes = make_oracle(loss, [y]).planes(scores, np.array([0, own]), np.ones(1))
    hinge = planes.loss - planes.dots(scores, np.array([0, own]))
    assert hinge == pytest.approx(max(augmented.values()) - truth, abs=1e-9)
    if loss.cost is None:
        rescaled = {path: loss.loss(y, path) * (1.0 + plain[path] - truth) for path in allowed}
        result = rescaled[tuple(loss.slack_rescaled_argmax(scores, y))]
        assert result == pytest.approx(max(rescaled.values()), abs=1e-9)


def test_more_transitions_than_places_are_stored() -> None:
    """With one label per sequence there is room for four coefficients at first."""

    class Complete(ScoreLoss[float]):
        def encode(self, y_hat: float, y: float) -> Vector:
            return np.full(51, y_hat)

        def loss(self, y: float, y_hat: float) -> float:
            return float(y != y_hat)

        def loss_augmented_argmax(self, scores: Vector, y: float) -> float:
            return 1.0 - y

        argmax = loss_augmented_argmax  # type: ignore[assignment]

        @staticmethod
        def kernel(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
            out[:] = 2.0 * labels[0] - 1.0
            return 1.0

    planes = make_oracle(Complete(), [0.0, 1.0]).planes(np.zeros(52), np.array([0, 1, 2]), np.ones(2))
    np.testing.assert_array_equal(planes.shared.toarray(), np.outer([-1.0, 1.0], np.ones(50)))
    np.testing.assert_array_equal(planes.coef, [-1.0, 1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cost": [[0, 1]]}, r"ChainHamming\(cost=...\) must be a K x K matrix"),
        ({"cost": [[0, 1], [1, 0]]}, "is 2 x 2, but there are 3 states"),
        ({"forbidden": [1]}, r"must be a list of pairs \(state, next state\), got \[1\]"),
        ({"forbidden": [("a", "x")]}, "names 'x', which is not among the states"),
        ({"average": "no"}, "average"),
    ],
)
def test_options_of_the_wrong_form_are_named(options: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ChainHamming("abc", **options)


def hidden_markov(n: int, seed: int, K: int = 4, d: int = 6, longest: int = 25) -> tuple[list[Any], list[Any]]:
    """Sequences of a hidden Markov model whose observations alone tell the states apart poorly."""
    model, rng = np.random.default_rng(9), np.random.default_rng(seed)
    step, mean = model.dirichlet(np.full(K, 0.4), K), model.standard_normal((K, d))
    xs, ys = [], []
    for _ in range(n):
        y = [int(rng.integers(K))]
        for _ in range(rng.integers(4, longest)):
            y.append(int(rng.choice(K, p=step[y[-1]])))
        xs.append(0.7 * mean[y] + rng.standard_normal((len(y), d)))
        ys.append(np.array(y))
    return xs, ys


def test_labels_come_back_as_they_were_given() -> None:
    xs, ys = hidden_markov(30, 3)
    names = np.array(["D", "N", "Verb", "X"])
    words = [names[y].tolist() for y in ys]
    svm = StructuralSVM(ChainHamming()).fit(xs, words)
    numbered = StructuralSVM(ChainHamming()).fit(xs, ys)
    assert svm.loss_.states == ("D", "N", "Verb", "X")
    assert numbered.loss_.states == (0, 1, 2, 3)
    for named, number in zip(svm.predict(xs), numbered.predict(xs), strict=True):
        np.testing.assert_array_equal(named, names[number])
    assert svm.score(xs, words) == numbered.score(xs, ys)
    ordered = StructuralSVM(ChainHamming(states=names[::-1])).fit(xs, words)
    assert ordered.result_.primal == pytest.approx(svm.result_.primal, abs=2e-3)
    seen = svm.most_violated(xs[0], words[0])
    assert seen.output.shape == (len(xs[0]),)


def test_rows_with_a_sequence_id_are_sequences() -> None:
    xs, ys = hidden_markov(10, 4)
    X, y, qid = np.concatenate(xs), np.concatenate(ys), np.repeat(np.arange(10), [len(y) for y in ys])
    by_id = Problem.from_queries(X, y, qid, loss="chain_hamming")
    listed = Problem.from_examples(xs, ys, loss="chain_hamming")
    assert OneSlack().solve(by_id).primal == OneSlack().solve(listed).primal


def test_the_parts_of_w() -> None:
    """Emission weights state by state, then the transitions from row to column."""
    loss, w = ChainHamming("ab"), np.array([1.0, 0.0, 0.0, 1.0, 0.1, 0.2, 0.3, 0.4])
    rows = Rows(np.array([[5.0, 7.0], [2.0, 3.0]]), np.array([0, 2]))
    emissions, transitions = loss.split(loss.operator(rows).scores(w))
    np.testing.assert_array_equal(emissions, [[5.0, 7.0], [2.0, 3.0]])
    np.testing.assert_array_equal(transitions, [[0.1, 0.2], [0.3, 0.4]])
    assert loss.operator(WithIntercept(rows, 1.0)).d == 10


def test_a_sequence_without_positions_is_left_out_and_predicted() -> None:
    xs, ys = hidden_markov(8, 5)
    empty = np.zeros((0, 6))
    for loss in (ChainHamming(), PlainChain()):
        problem = Problem.from_examples([empty, *xs], [[], *ys], loss=loss)
        assert (problem.used, problem.left_out) == (8, 1)
        one_slack = OneSlack(tol=1e-6)
        with_it, without = one_slack.solve(problem), one_slack.solve(Problem.from_examples(xs, ys, loss=loss))
        assert with_it.primal == pytest.approx(without.primal, abs=1e-5)
        assert FrankWolfe().solve(problem).converged
    svm = StructuralSVM("chain_hamming").fit([empty, *xs], [[], *ys])
    assert len(svm.predict([empty])[0]) == 0


def test_a_single_state_has_nothing_to_learn() -> None:
    svm = StructuralSVM("chain_hamming").fit([np.ones((3, 2)), np.ones((1, 2))], [["a"] * 3, ["a"]])
    assert (svm.result_.primal, svm.result_.converged) == (0.0, True)
    assert svm.predict([np.ones((2, 2))])[0].tolist() == ["a", "a"]


def test_invalid_arguments_are_errors() -> None:
    xs, ys = [np.ones((3, 2)), np.ones((2, 2))], [["a", "b", "a"], ["b", "b"]]
    with pytest.raises(InputError, match="example 1 has 2 rows and 3 labels"):
        StructuralSVM("chain_hamming").fit(xs, [ys[0], ["b", "b", "b"]])
    with pytest.raises(InputError, match=r"example 1: 'c' is not among the states \('a', 'b'\)"):
        StructuralSVM(ChainHamming("ab")).fit(xs, [ys[0], ["c", "b"]])
    with pytest.raises(InputError, match=r"a label for each row of its input, got 1: give .* \[x\] and \[y\]"):
        StructuralSVM("chain_hamming").fit(np.ones((3, 2)), [1, 0, 1])
    with pytest.raises(InputError, match="got 'aba': give a list of its letters or words"):
        StructuralSVM("chain_hamming").fit(xs, ["aba", "ab"])
    with pytest.raises(InputError, match=r"cannot be sorted .*: give ChainHamming\(states=...\)"):
        StructuralSVM("chain_hamming").fit(xs, [[1, 2, 1], ["b", "b"]])
    with pytest.raises(InputError, match=r"labels must be hashable.* unhashable type: 'list'. Flatten"):
        StructuralSVM("chain_hamming").fit(xs, [[["a"], ["b"], ["a"]], [["b"], ["b"]]])
    objects = np.empty(2, dtype=object)
    objects[:] = xs
    with pytest.raises(InputError, match="example 1 has 2 rows and 3 labels"):
        StructuralSVM("chain_hamming").fit(objects, [ys[0], ["b", "b", "b"]])
    with pytest.raises(InputError, match="the outputs have 3 and 2 labels"):
        ChainHamming("ab").loss(*ys)
    with pytest.raises(InputError, match=r"give ChainHamming\(states=...\)"):
        ChainHamming().argmax(np.zeros(3))
    for states in ([], ["a", "b", "a"]):
        with pytest.raises(InputError, match="must be different labels, at least one"):
            ChainHamming(states)


@pytest.mark.parametrize("average", [True, False])
@pytest.mark.parametrize("solver", [OneSlack(tol=1e-6), FrankWolfe(tol=1e-6)], ids=lambda solver: solver.name)
def test_the_optimum_of_an_enumerated_qp(average: bool, solver: Any) -> None:
    """The number of wrong labels and their share, with every labeling as a constraint, by SciPy's SLSQP."""
    rng = np.random.default_rng(3)
    xs = [rng.standard_normal((length, 2)) for length in (2, 1, 3, 4, 3)]
    ys = [rng.integers(0, 2, len(x)) for x in xs]
    problem = Problem.from_examples(xs, ys, loss=ChainHamming([0, 1], average=average), C=7.0)
    optimum = Listed.of(problem, ys).optimum()
    result = solver.solve(problem)
    assert result.dual <= optimum * (1 + 1e-9)
    assert result.primal == pytest.approx(optimum, rel=1e-5)


def test_it_is_no_loss_to_rank_by() -> None:
    with pytest.raises(InputError, match="'chain_hamming' does not give each row one score.*: use StructuralSVM"):
        Ranker("chain_hamming").fit(np.ones((4, 2)), [0.0, 1.0, 0.0, 1.0], qid=[0, 0, 1, 1])


def test_it_is_a_value() -> None:
    assert ChainHamming(np.array([1, 2])) == ChainHamming((1, 2)) != ChainHamming((2, 1))
    assert repr(ChainHamming("ab")).startswith("ChainHamming(states=('a', 'b'), ")
    bound = ChainHamming("ba")
    assert bound.bind([["c"]]) is bound


MASK = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool)


@pytest.mark.parametrize("loss", [ChainHamming("abc"), PlainChain("abc"), SlackRescaled(ChainHamming("abc"))])
@pytest.mark.parametrize("sparse", [False, True])
def test_positions_have_only_their_allowed_labels(loss: Any, sparse: bool) -> None:
    features = np.random.default_rng(0).standard_normal((30, 3, 3))
    ys = [["abc"[k] for k in np.where(MASK, x, -np.inf).argmax(axis=1)] for x in features]
    # Most of the columns are empty, so the fit leaves them out.
    wide = [sp.csr_array(np.hstack((x, np.zeros((3, 2000))))) for x in features] if sparse else features
    model = StructuralSVM(loss, C=10).fit([(x, MASK) for x in wide[:20]] + list(wide[20:]), ys)
    assert model.result_.gap <= 1e-3 * 10
    assert model.n_features_in_ == wide[0].shape[1]
    predicted = model.predict([(x, MASK) for x in wide])
    assert all(MASK[range(3), ["abc".index(label) for label in y]].all() for y in predicted)
    assert model.score([(x, MASK) for x in wide], ys) > 0.8
    single = np.eye(3, dtype=bool)[[2, 0, 1]]
    assert model.predict([(wide[0], single), wide[1]])[0].tolist() == list("cab")
    assert model.most_violated((wide[0], single), list("cab")).output.tolist() == list("cab")


def test_a_mask_for_one_fit_is_a_constraint_and_not_a_change_of_scores() -> None:
    """A mask of all labels changes no bit, and masks enter the fingerprint."""
    xs, ys = hidden_markov(20, 6)
    everything = [(x, np.ones((len(x), 4), dtype=bool)) for x in xs]
    truths = [(x, np.eye(4, dtype=bool)[y]) for x, y in zip(xs, ys, strict=True)]
    problems = [Problem.from_examples(inputs, ys, loss="chain_hamming") for inputs in (xs, everything, truths)]
    results = [OneSlack().solve(problem) for problem in problems]
    np.testing.assert_array_equal(results[0].w, results[1].w)
    assert results[2].primal == 0.0


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros((2, 3), dtype=bool), "example 1: no label is allowed at position 0"),
        (np.ones((3, 3), dtype=bool), r"example 1: .* give truth values of shape \(2, 3\), a row for each position"),
        (np.eye(3, dtype=bool)[[0, 1]], "example 1: all sequences of 2 labels contain a forbidden transition or label"),
    ],
)
def test_masks_that_do_not_fit_are_an_error(mask: Any, message: str) -> None:
    x = np.ones((2, 1))
    model = StructuralSVM(ChainHamming("abc", forbidden=["ab"])).fit([x], [list("bb")])
    with pytest.raises(InputError, match=message):
        model.predict([x, (x, mask)])
    with pytest.raises(InputError, match="example 1: the true label 'b' is not allowed at position 1"):
        model.fit([x, (x, np.eye(3, dtype=bool)[[0, 0]])], [list("aa"), list("ab")])
    with pytest.raises(InputError, match="example 1 has 2 rows and 3 labels"):
        model.fit([x, (x, np.ones((3, 3), dtype=bool))], [list("aa"), list("aaa")])


ONE_WAY = [pair for pair in product("abc", repeat=2) if pair not in (("a", "b"), ("b", "c"))]


@pytest.mark.parametrize("loss", [ChainHamming(forbidden=ONE_WAY), SlackRescaled(ChainHamming(forbidden=ONE_WAY))])
def test_a_length_without_allowed_sequence_is_an_error(loss: Any) -> None:
    xs = list(np.random.default_rng(0).standard_normal((6, 3, 2)))
    model = StructuralSVM(loss).fit(xs, [list("abc")] * 6)
    assert "".join(model.predict(xs[:1])[0]) == "abc"
    with pytest.raises(InputError, match="all sequences of 4 labels contain a forbidden transition"):
        model.predict([np.zeros((4, 2))])
    with pytest.raises(InputError, match="forbidden transition from 'c' to 'a'"):
        StructuralSVM(loss).fit([*xs, np.zeros((4, 2))], [list("abc")] * 6 + [list("abca")])


CHAINS = list(np.random.default_rng(1).standard_normal((6, 3, 2)))
PLACES = [0, 1, 0]
INPUTS: dict[str, tuple[Any, Any, Any]] = {
    "chain_hamming": (CHAINS, [PLACES] * 6, lambda bad: [bad]),
    "sparse chain": (list(map(sp.csr_array, CHAINS)), [PLACES] * 6, lambda bad: [sp.csr_array(bad)]),
    "graph_hamming": ([(x, [[0, 1], [1, 2]]) for x in CHAINS], [PLACES] * 6, lambda bad: [(bad, [[0, 1], [1, 2]])]),
    "map": (CHAINS, [PLACES] * 6, lambda bad: [bad]),
    "multiclass": (CHAINS[0], PLACES, lambda bad: bad[:1]),
    "multilabel_hamming": (CHAINS[0], np.eye(3, dtype=int), lambda bad: bad[:1]),
}


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("name", INPUTS)
def test_features_that_are_not_finite_are_errors(name: str, value: float) -> None:
    xs, ys, shown = INPUTS[name]
    model = StructuralSVM("chain_hamming" if name == "sparse chain" else name).fit(xs, ys)
    bad = CHAINS[0].copy()
    bad[0, 1] = value
    for use in (model.predict, lambda x: model.score(x, ys[:1]), lambda x: model.fit(x, ys[:1])):
        with pytest.raises(InputError, match="NaN|infin|must be finite"):
            use(shown(bad))


@pytest.mark.parametrize("method", ["argmax", "loss_augmented_argmax", "slack_rescaled_argmax"])
def test_argmaxes_of_a_chain_reject_nan(method: str) -> None:
    with pytest.raises(InputError, match="the scores of a chain contain NaN"):
        getattr(ChainHamming((0, 1)), method)(np.full(8, np.nan), *([[0, 1]] if method != "argmax" else []))
