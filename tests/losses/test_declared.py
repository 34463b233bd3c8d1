"""Losses over feasible sets, against enumeration and written-out programs."""

import numpy as np
import pytest

from structsvm import Problem, StructuralSVM
from structsvm.exceptions import InputError, OracleError
from structsvm.inference.sets import Bounded, FeasibleSet, Knapsack, Oracle, Program, Subset
from structsvm.losses import PartHamming, Regret
from structsvm.solvers import FrankWolfe, NSlack, OneSlack
from structsvm.testing import check_loss

SET = Subset(n=4, k=2)
OUTPUTS = np.array(list(SET.outputs()))


class Listed(FeasibleSet):
    """The outputs of a list, in Python."""

    def __init__(self, outputs: np.ndarray) -> None:
        self.listed = outputs

    @property
    def size(self) -> int:
        return self.listed.shape[1]

    def maximize(self, scores):
        return self.listed[np.argmax(self.listed @ scores)]

    def outputs(self):
        return iter(self.listed)


def costs(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, 4))


@pytest.mark.parametrize("feasible", [SET, Listed(OUTPUTS)], ids=["compiled", "python"])
@pytest.mark.parametrize("maximize", [False, True])
def test_regret_passes_the_check(feasible, maximize):
    check_loss(Regret(feasible, maximize=maximize), costs(4))


@pytest.mark.parametrize("feasible", [SET, Listed(OUTPUTS)], ids=["compiled", "python"])
@pytest.mark.parametrize("weights", [None, [1.0, 0.0, 2.0, 0.5]])
@pytest.mark.parametrize("average", [False, True])
def test_hamming_passes_the_check(feasible, weights, average):
    check_loss(PartHamming(feasible, weights, average), OUTPUTS[:4])


def test_hamming_counts_wrong_parts():
    loss = PartHamming(SET, average=False)
    assert loss.loss([1, 1, 0, 0], [1, 0, 1, 0]) == 2.0
    assert PartHamming(SET, weights=[0, 1, 2, 0]).loss([1, 1, 0, 0], [1, 0, 1, 0]) == 1.0


def test_regret_is_the_cost_above_the_best_decision():
    loss = Regret(SET)
    assert loss.loss([1.0, 2.0, 5.0, 3.0], [1, 0, 0, 1]) == 1.0
    assert Regret(SET, maximize=True).loss([1.0, 2.0, 5.0, 3.0], [1, 0, 0, 1]) == 4.0
    assert loss.relative([[1.0, 2.0, 5.0, 3.0]], [[1, 0, 0, 1]]) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("decisions", "message"),
    [
        ([[1, 0, 0, 1], [1, 1, 1, 0]], "example 1: the decision is not in the feasible set Subset"),
        ([[1, 0, 0, 1], [1, np.nan, 0, 0]], "example 1: the decision must be 4 finite numbers"),
        ([[1, 0, 0, 1]], "2 rows of costs and 1 decisions"),
        ([[1, 0], [0, 1]], "example 0: the decision must be 4 finite numbers"),
    ],
)
def test_decisions_outside_the_set_are_errors(decisions, message):
    with pytest.raises(InputError, match=message):
        Regret(SET).relative(costs(2), decisions)


def test_regret_relative_to_zero_is_an_error():
    with pytest.raises(InputError, match="set maximize=True if they are profits"):
        Regret(Knapsack([1, 2, 3, 4], 5)).relative([[1.0, 1.0, 1.0, 1.0]], [[1, 0, 0, 1]])


@pytest.mark.parametrize("solver", [OneSlack(tol=1e-7), NSlack(tol=1e-7), FrankWolfe(tol=1e-7)], ids=lambda s: s.name)
@pytest.mark.parametrize("feasible", [SET, Listed(OUTPUTS)], ids=["compiled", "python"])
def test_regret_reaches_the_optimum_of_spo_plus(solver, feasible):
    rng = np.random.default_rng(1)
    X, C = rng.normal(size=(12, 3)), 5.0
    values = X @ rng.normal(size=(3, 4)) + 0.5 * costs(12)

    def primal(W):
        predicted = X @ W.T
        hinges = [
            max((c - 2.0 * guess) @ (y - OUTPUTS[np.argmin(OUTPUTS @ c)]) for y in OUTPUTS)
            for c, guess in zip(values, predicted, strict=True)
        ]
        return 0.5 * (W**2).sum() + C * np.mean(hinges)

    model = StructuralSVM(Regret(feasible), C=C, solver=solver).fit(X, values)
    W = model.coef_.reshape(4, 3)
    assert primal(W) == pytest.approx(model.result_.primal, rel=1e-9)
    assert model.result_.gap <= 1e-7 * C
    for _ in range(200):
        assert primal(W + 0.05 * rng.normal(size=W.shape)) >= model.result_.dual


@pytest.mark.parametrize("layout", ["parts", "example", "both"])
def test_hamming_reaches_the_optimum_in_each_layout(layout):
    rng = np.random.default_rng(2)
    rows, parts = rng.normal(size=(8, 2)), rng.normal(size=(8, 4, 3))
    ys = OUTPUTS[rng.integers(len(OUTPUTS), size=8)]
    xs = {"parts": list(parts), "example": rows, "both": list(zip(rows, parts, strict=True))}[layout]
    problem = Problem.from_examples(xs, ys, loss=PartHamming(SET), C=3.0)

    def features(row, part, y):
        joint = {"parts": [y @ part], "example": [np.outer(y, row).ravel()]}
        return np.concatenate(joint.get(layout, [*joint["example"], *joint["parts"]]))

    w = OneSlack(tol=1e-8).solve(problem).w
    hinges = [
        max(np.abs(y - y_hat).mean() - w @ (features(row, part, y) - features(row, part, y_hat)) for y_hat in OUTPUTS)
        for row, part, y in zip(rows, parts, ys, strict=True)
    ]
    result = OneSlack(tol=1e-8).solve(problem)
    assert 0.5 * w @ w + 3.0 * np.mean(hinges) == pytest.approx(result.primal, rel=1e-9)


def test_sets_may_differ_by_example():
    rng = np.random.default_rng(3)
    sizes = rng.integers(3, 6, 30)
    xs = [rng.normal(size=(n, 2)) for n in sizes]
    ys = [(np.argsort(np.argsort(-x[:, 0])) < 2) * 1.0 for x in xs]
    loss = PartHamming(lambda x: Subset(n=len(x), k=2))
    model = StructuralSVM(loss, C=100).fit(xs, ys)
    assert model.result_.converged
    assert model.score(xs, ys) > 0.95
    narrow = [(x, Subset(n=len(x), k=1)) for x in xs]
    assert all(y.sum() == 1 for y in model.predict(narrow))


def failing(values):
    raise KeyError("road")


@pytest.mark.parametrize(
    ("loss", "xs", "ys", "message"),
    [
        (PartHamming(SET), [np.ones((3, 2))], [[1, 1, 0, 0]], "example 0 has 3 rows of features and its .* 4 parts"),
        (PartHamming(SET), [np.ones((4, 2))], [[1, 1, 1, 0]], "not in the feasible set"),
        (
            PartHamming(Program(([[1, 1, 1, 1], [2, 0, 0, 0]], [3, 1]))),
            [np.ones((4, 2))],
            [[1, 0, 0, 0]],
            "example 0: .* whose row 1 has the value 2 there, and must be from -inf to 1",
        ),
        (PartHamming(Program(([[1, 1]], [-1]))), [np.eye(2)], [[1, 0]], "example 0: the program has no output: row 0"),
        (PartHamming(SET), [np.ones((4, 2))], [[0.5, 1, 0, 0]], "must consist of 0 and 1"),
        (PartHamming(SET, [1.0]), [np.ones((4, 2))], [[1, 1, 0, 0]], "1 weights, and the feasible set has 4 parts"),
        (PartHamming(lambda x: 3), [np.ones((4, 2))], [[1, 1, 0, 0]], "must return a FeasibleSet"),
        (Regret(SET), np.ones((1, 2)), [[1.0, np.nan, 0.0, 0.0]], "costs must be 4 finite numbers"),
        (Regret(SET), np.ones((1, 2)), [[1.0, 2.0]], "costs must be 4 finite numbers"),
        (Regret(SET), [np.ones((4, 2)), np.ones(3)], costs(2), "example 1 and the examples before must all have"),
        (Regret(SET), [[1.0, 2.0], [3.0]], costs(2), "example 1 has 1 feature, and example 0 has 2"),
        (Regret(SET), [np.ones((4, 2)), [[1.0, 2.0], [3.0]]], costs(2), "example 1 must be .* got .*3.0"),
        (
            Regret(SET),
            [(np.ones(2), SET), [np.ones(2), SET]],
            costs(2),
            "example 1 must be .* a tuple .* got .*array",
        ),
        (Regret(Oracle(failing, size=4)), np.ones((1, 2)), costs(1), "example 0: Oracle.*failing.* KeyError: 'road'"),
        (Regret(failing), np.ones((1, 2)), costs(1), "example 0: failing raised KeyError: 'road'"),
    ],
)
def test_bad_input_is_an_error_that_says_what(loss, xs, ys, message):
    with pytest.raises(InputError, match=message):
        StructuralSVM(loss).fit(xs, ys)


def test_truths_of_approximate_sets_are_accepted():
    class Approximate(Listed):
        exact = False

        def maximize(self, scores):
            return Bounded(OUTPUTS[0], np.maximum(scores, 0.0).sum())

    assert PartHamming(Approximate(OUTPUTS)).loss(OUTPUTS[1], OUTPUTS[0]) == 0.5


@pytest.mark.parametrize("answer", [[np.nan, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]], ids=["NaN", "worse"])
def test_mistakes_during_a_fit_have_the_number_of_the_example(answer):
    rng, calls = np.random.default_rng(4), []

    def tired(scores):
        calls.append(scores)
        return answer if len(calls) > 40 else SET.maximize(scores)

    with pytest.raises((InputError, OracleError), match=r"^example \d+: Oracle\(tired\) returned"):
        StructuralSVM(Regret(Oracle(tired, size=4)), C=100).fit(rng.normal(size=(9, 3)), costs(9))


def test_a_kernel_that_is_not_exact_is_not_used():
    def none(scores, data, out):
        out[:] = 0.0

    loss = PartHamming(Oracle(kernel=none, size=2, exact=False))
    assert loss.kernel is None
    assert loss.bounded


def test_kernel_needs_no_staticmethod():
    def first(scores, data, out):
        out[:] = 0.0
        out[0] = 1.0

    class First(Subset):
        kernel = first

    assert First(n=4, k=1).kernel is first


def test_outputs_beyond_one_are_an_error():
    with pytest.raises(InputError, match="needs outputs between 0 and 1"):
        StructuralSVM(PartHamming(Program(([[1, 1]], [3]), bounds=(0, 3)))).fit([np.eye(2)], [[1, 1]])

    with pytest.raises(InputError, match="bound the variables of the program"):
        StructuralSVM(PartHamming(Program(([[1.0]], [1.0]), bounds=(-1, 1)))).fit([np.eye(1)] * 4, [[0.0]] * 4)
    timed = Program(([[1, -1]], [0]), bounds=([0, 0], [1, 9]))  # the second variable does not count
    assert StructuralSVM(PartHamming(timed, weights=[1, 0])).fit([np.eye(2)], [[1, 4]]).result_.converged

    def twice(scores, data, out):
        out[:] = 2.0
        if scores.sum() < 0:
            out[:] = 0.0

    with pytest.raises((InputError, OracleError), match="PartHamming"):
        StructuralSVM(PartHamming(Oracle(kernel=twice, size=2))).fit([np.eye(2)], [[0, 0]])


@pytest.mark.parametrize("value", [None, "subset", Subset, 3])
def test_a_set_that_is_none_is_an_error(value):
    with pytest.raises(InputError, match="feasible must be a FeasibleSet"):
        Regret(value)
