"""Programs against enumeration, with gaps and limits that must not falsify bounds."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations, product
from unittest.mock import Mock

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array

from structsvm.exceptions import InputError
from structsvm.inference.sets import Bounded, Program
from structsvm.inference.sets.highs import ProgramSolver
from structsvm.inference.sets.polytope import Judged, compiled_judge
from structsvm.inference.sets.program import program_solver

ROUNDING = 1e-9


def output_and_bound(answer, scores):
    """Return an output, its score and its bound; the output alone has its score as the bound."""
    if isinstance(answer, Bounded):
        return answer.output, float(scores @ answer.output), answer.bound
    return answer, float(scores @ answer), float(scores @ answer)


def require_best(program, scores, points, gap=1e-7):
    """Require that a maximization returns one of these points, and a bound of all within ``gap``."""
    size = np.abs(scores).sum() * max(1.0, np.abs(points).max())
    y, value, bound = output_and_bound(program.maximize(scores), scores)
    assert (np.abs(points - y).max(axis=1) <= 1e-12).any()
    assert program.contains(y)
    largest = (points @ scores).max()
    assert bound >= largest - ROUNDING * size
    assert value >= largest - gap * size
    assert bound - value <= gap * size + ROUNDING


def assignment(n, **settings):
    ones = np.ones(n)
    rows = np.vstack([np.kron(np.eye(n), ones), np.kron(ones, np.eye(n))])
    return Program(LinearConstraint(csr_array(rows), 1, 1), **settings)


def random_programs(seed):
    """Return small programs of all kinds: knapsacks, coverings, exact rows, wide integers."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    kind = seed % 4
    if kind == 0:
        weights = rng.integers(1, 9, size=(2, n)).astype(float)
        return Program((weights, 0.5 * weights.sum(axis=1))), [(0, 1)] * n
    if kind == 1:
        rows = (rng.random((3, n)) < 0.6) * 1.0
        rows[:, 0] = 1.0
        return Program(LinearConstraint(rows, 1, np.inf)), [(0, 1)] * n
    if kind == 2:
        return Program([LinearConstraint(np.ones(n), 1, 2), (rng.normal(size=(1, n)), [0.5])]), [(0, 1)] * n
    low, high = rng.integers(-2, 1, size=n), rng.integers(1, 3, size=n)
    rows = rng.integers(-3, 4, size=(2, n)).astype(float)
    return Program((rows, [2.0, 3.0]), bounds=Bounds(low, high)), list(zip(low, high, strict=True))


@pytest.mark.parametrize("block", range(4))
def test_best_output_is_that_of_enumeration(block):
    for seed in range(block, 200, 4):
        program, box = random_programs(seed)
        points = np.array(list(product(*(range(low, high + 1) for low, high in box))), dtype=float)
        polytope = program.polytope
        values = points @ polytope.matrix.toarray().T
        points = points[((values >= polytope.lower - 1e-9) & (values <= polytope.upper + 1e-9)).all(axis=1)]
        np.testing.assert_array_equal(np.array(list(program.outputs())), points)
        rng = np.random.default_rng(seed)
        for scores in (rng.normal(size=len(box)), 1e-7 * rng.normal(size=len(box)), 1e9 * rng.normal(size=len(box))):
            require_best(program, scores, points)
        require_best(program, rng.integers(-1, 2, size=len(box)).astype(float), points)


@pytest.mark.parametrize("relax", [False, True])
def test_assignments_are_exact_without_integers(relax):
    program, rng = assignment(4, relax=relax), np.random.default_rng(0)
    points = np.array([np.eye(4)[list(order)].ravel() for order in permutations(range(4))])
    for _ in range(50):
        scores = rng.normal(size=16)
        answer = program.maximize(scores)
        assert not isinstance(answer, Bounded)
        require_best(program, scores, points, gap=1e-12)
    require_best(program, np.zeros(16), points)


def test_mixed_program_equals_milp():
    rng = np.random.default_rng(1)
    for _ in range(30):
        rows, right, integrality = rng.normal(size=(4, 8)), rng.random(4), rng.integers(2, size=8)
        program = Program((rows, right), bounds=(-1.0, 2.0), integrality=integrality)
        scores = rng.normal(size=8)
        y, value, bound = output_and_bound(program.maximize(scores), scores)
        constraint = LinearConstraint(rows, -np.inf, right)
        solved = milp(-scores, integrality=integrality, bounds=Bounds(-1, 2), constraints=constraint)
        assert program.contains(y)
        assert value == pytest.approx(-solved.fun, abs=1e-3)
        assert value <= bound <= value + 1e-6
        assert bound >= -solved.fun - 1e-9


def test_relaxed_program_equals_linprog():
    rng = np.random.default_rng(2)
    for _ in range(30):
        rows, right = rng.normal(size=(5, 12)), rng.random(5)
        program, scores = Program((rows, right), relax=True), rng.normal(size=12)
        y, value, bound = output_and_bound(program.maximize(scores), scores)
        assert program.contains(y)
        assert value == pytest.approx(-linprog(-scores, A_ub=rows, b_ub=right, bounds=(0, 1)).fun, abs=1e-9)
        assert bound == pytest.approx(value, abs=1e-10)


def test_bound_holds_for_any_duals_and_points():
    for seed in range(40):
        program, _ = random_programs(seed)
        polytope, rng = program.polytope, np.random.default_rng(seed)
        points = np.array(list(program.outputs()))
        for scale in (0.0, 1e-3, 1.0, 1e6):
            scores, duals = rng.normal(size=program.size), scale * rng.normal(size=len(polytope.lower))
            y = points[0] + rng.normal(size=program.size)
            facts = Judged(*compiled_judge()(polytope.parts(polytope.low, polytope.high), scores, y, duals))
            assert facts.bound >= (points @ scores).max() - 1e-12
            assert facts.value == pytest.approx(scores @ y)
            assert (facts.holds and not facts.fractional) == polytope.contains(y[np.newaxis])[0]


def test_bound_holds_if_search_stops_at_a_gap():
    rng, loose = np.random.default_rng(3), 0
    for _ in range(30):
        weights = rng.integers(20, 60, size=(3, 14)).astype(float)
        right = 0.4 * weights.sum(axis=1)
        points = np.array(list(product((0.0, 1.0), repeat=14)))
        points = points[(points @ weights.T <= right).all(axis=1)]
        scores = np.rint(weights.mean(axis=0)) + rng.integers(-3, 4, size=14)
        y, value, bound = output_and_bound(Program((weights, right), gap=0.05).maximize(scores), scores)
        largest = (points @ scores).max()
        assert (points == y).all(axis=1).any()
        assert value <= largest <= bound
        assert bound <= 1.06 * value
        loose += largest > value
        require_best(Program((weights, right)), scores, points)
    assert loose


def test_time_limit_returns_the_last_output_with_a_valid_bound():
    rng = np.random.default_rng(4)
    weights = rng.integers(100, 1000, size=(5, 60)).astype(float)
    program = Program((weights, 0.5 * weights.sum(axis=1)), time_limit=0.3)
    scores = weights.mean(axis=0) + rng.integers(0, 50, size=60)
    for _ in range(3):
        y, value, bound = output_and_bound(program.maximize(scores), scores)
        assert program.contains(y)
        best = np.argsort(-scores / weights.sum(axis=0))
        greedy = np.zeros(60)
        for item in best:
            greedy[item] = 1.0
            greedy[item] = float(program.contains(greedy))
        assert max(value, scores @ greedy) <= bound <= 1.05 * value


def test_time_limit_before_the_first_output_is_an_error():
    program = assignment(60, time_limit=1e-9)
    with pytest.raises(InputError, match=r"found no output of the program within 1e-09 seconds: raise its time_limit"):
        program.maximize(np.random.default_rng(0).normal(size=3600))


def test_results_do_not_depend_on_threads():
    program, rng = assignment(6), np.random.default_rng(5)
    knapsack = Program((rng.integers(1, 9, size=(1, 12)).astype(float), [20.0]))
    tasks = [(program, rng.normal(size=36)) for _ in range(60)] + [(knapsack, rng.normal(size=12)) for _ in range(60)]
    alone = [output_and_bound(one.maximize(scores), scores)[0] for one, scores in tasks]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda task: output_and_bound(task[0].maximize(task[1]), task[1])[0], tasks))
    np.testing.assert_array_equal(np.concatenate(alone), np.concatenate(answers))


def test_output_is_not_shared_with_later_calls():
    program, scores = assignment(3), np.arange(9.0)
    first = program.maximize(scores)
    expected = first.copy()
    first[:] = 7.0
    np.testing.assert_array_equal(program.maximize(scores), expected)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_copies_give_the_same_outputs(copied):
    program, scores = assignment(3), np.arange(9.0) ** 2
    answer = program.maximize(scores)
    np.testing.assert_array_equal(copied(program).maximize(scores), answer)


def test_pickle_has_no_model_of_the_solver():
    program = assignment(3)
    size = len(pickle.dumps(program))
    program.maximize(np.arange(9.0))
    assert len(pickle.dumps(program)) == size


def test_infinite_bounds_may_follow_from_rows():
    program = Program([([[2.0, 3.0]], [12.0]), LinearConstraint([[1, 0], [0, 1]], 0, np.inf)], bounds=(-np.inf, np.inf))
    points = np.array([y for y in product(range(7), range(5)) if 2 * y[0] + 3 * y[1] <= 12], dtype=float)
    for scores in ([1.0, 1.0], [1.0, 2.0], [-1.0, 0.5], [-1.0, -1.0]):
        require_best(program, np.array(scores), points, gap=1e-5)


def test_program_without_rows_is_a_box():
    program = Program([], bounds=Bounds([0, -1], [1.5, 2]), integrality=[0, 1])
    np.testing.assert_array_equal(program.maximize([1.0, -1.0]), [1.5, -1.0])


def test_narrower_programs_have_the_outputs_that_satisfy_more():
    program = Program(([[2.0, 3.0, 4.0, 1.0]], [6.0]))
    points = np.array(list(program.outputs()))
    exclusive = program.with_constraints(LinearConstraint([[1, 1, 0, 0]], 0, 1), bounds=(0, [1, 1, 1, 0]))
    expected = points[(points[:, 0] + points[:, 1] <= 1) & (points[:, 3] == 0)]
    np.testing.assert_array_equal(np.array(list(exclusive.outputs())), expected)
    fixed = program.fixed({0: 1, 2: 0})
    expected = points[(points[:, 0] == 1) & (points[:, 2] == 0)]
    np.testing.assert_array_equal(np.array(list(fixed.outputs())), expected)
    require_best(fixed, np.array([1.0, -3.0, 4.0, -1.0]), expected)


def test_contains_checks_rows_bounds_and_integers():
    program = Program(([[1.0, 1.0]], [1.0]), bounds=(0, 1), integrality=[1, 0])
    assert program.contains([1.0, 0.0])
    assert program.contains([0.0, 0.3])
    assert program.contains([1.0 + 1e-7, 0.0])
    for y in ([0.5, 0.0], [1.0, 0.1], [0.0, -0.1], [2.0, -1.0], [np.nan, 0.0], [0.0]):
        assert not program.contains(y)


def big_switch():
    # The amount is at most 1e5 if the switch is on, and 0 if it is off.
    return Program([([[1.0, -1e5]], [0.0]), ([[1.0, 0.0]], [0.02])], bounds=(0, [1e5, 1]), integrality=[0, 1])


def test_row_with_big_coefficients_is_satisfied_with_exact_integers():
    answer = big_switch().maximize(np.array([1.0, -1e-3]))
    y, value, bound = output_and_bound(answer, np.array([1.0, -1e-3]))
    np.testing.assert_allclose(y, [0.02, 1.0])
    assert value <= bound


def test_interrupt_leaves_integers_free(monkeypatch):
    solver, scores = program_solver(big_switch()), np.array([1.0, -1e-3])
    with monkeypatch.context() as patch:
        patch.setattr(ProgramSolver, "_run", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            solver._rounded(scores, np.array([5.0, 0.0]))
    y, _, _ = output_and_bound(solver.maximize(scores), scores)
    np.testing.assert_allclose(y, [0.02, 1.0])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Program([LinearConstraint([[1, 1]], 2, 2), ([[1.0, 0.0]], [0.0])]), "no output: rows 0, 1 contradict"),
        (lambda: Program(LinearConstraint([[1, 1]], 3, 4)), "no output: row 0 contradicts the bounds"),
        (lambda: Program(LinearConstraint([[2, 2]], 1, 1)), "no integers satisfy its constraints"),
        (lambda: Program(([[1.0, -1.0]], [1.0]), bounds=(0, np.inf)), "variable 0 has no upper bound"),
        (lambda: Program(([[1.0, 1.0]], [1.0]), bounds=(-np.inf, 1)), "variable 0 has no lower bound"),
        (lambda: Program(([[1.0, np.nan]], [1.0])), r"A of constraint 0 must be finite: row 0 has NaN"),
        (
            lambda: Program(([[1.0, 2.0]], [np.nan])),
            r"constraint 0, row 0 has the lower side -inf and the upper side nan",
        ),
        (lambda: Program(([[1.0, 2.0]], [1.0, 2.0])), "has 1 rows and 2 right sides"),
        (
            lambda: Program([([[1.0, 2.0]], [1.0]), ([[1.0]], [1.0])]),
            "constraint 1 has 1 columns, but constraint 0 has 2",
        ),
        (lambda: Program(([[1.0, 2.0]], [1.0]), bounds=(0, [1, 1, 1])), "has 3 entries for 2 variables"),
        (
            lambda: Program([], bounds=([0, 0], 1)).with_constraints([], bounds=(0, [1, 1, 1])),
            r"Program\(bounds=...\) has 3 entries for 2 variables",
        ),
        (lambda: Program(([[1.0, 2.0]], [1.0]), bounds=(1, 0)), "variable 0 has the lower side 1 and the upper side 0"),
        (lambda: Program(([[1.0, 2.0]], [1.0]), bounds=1), "must be SciPy's Bounds or a pair"),
        (lambda: Program(([[1.0, 2.0]], [1.0]), integrality=2), "must be 1 for integers and 0"),
        (lambda: Program([[1.0, 2.0]]), r"must be a LinearConstraint or a pair"),
        (lambda: Program("rows"), r"must be a LinearConstraint, a pair"),
        (lambda: Program([]), "the program has no variables: pass constraints"),
        (lambda: Program(([[1.0, 2.0]], [1.0]), gap=-1.0), "gap"),
        (lambda: Program(([[1.0, 2.0]], [1.0]), time_limit=0), "time_limit"),
        (lambda: Program(([[1.0, 2.0]], [1.0])).fixed({2: 1}), "must name variables from 0 to 1, got 2"),
        (lambda: Program(([[1.0, 2.0]], [1.0])).fixed({0: 0.5}), "variable 0 must be from 0 to 1 and an integer"),
        (lambda: Program(([[1.0, 2.0]], [1.0])).fixed({0: "a"}), "variable 0 must be from 0 to 1 and an integer"),
        (lambda: Program(([[1e16, 2.0]], [1.0])), "coefficients are larger than 1e15"),
    ],
)
def test_mistakes_are_errors(make, message):
    with pytest.raises(InputError, match=message):
        make().maximize(np.ones(2))


@pytest.mark.parametrize("scores", [np.ones(3), np.array([1.0, np.nan]), np.array([1.0, np.inf])])
def test_wrong_scores_are_errors(scores):
    with pytest.raises(InputError, match="scores must be 2 finite numbers"):
        Program(([[1.0, 2.0]], [1.0])).maximize(scores)


def test_repr_shows_the_size_and_limits():
    rows = np.ones((2, 3)), np.ones(2)
    assert repr(Program(rows)) == "Program(3 variables, 2 rows, 3 integers)"
    assert repr(Program(rows, relax=True, time_limit=2)) == "Program(3 variables, 2 rows, time_limit=2)"


def test_only_small_integer_programs_list_their_outputs():
    for program in (Program(([[1.0, 2.0]], [1.0]), relax=True), Program((np.ones((1, 30)), [1.0]))):
        with pytest.raises(NotImplementedError, match="list their outputs"):
            list(program.outputs())


def test_other_number_of_workers_in_the_thread_is_accepted():
    import highspy

    def run():
        solver = highspy.Highs()
        solver.silent()
        solver.setOptionValue("threads", 2)
        solver.addVar(0, 1)
        solver.run()
        return Program(([[2.0, 2.0]], [3.0])).maximize(np.array([1.0, 2.0]))

    with ThreadPoolExecutor(1) as pool:
        np.testing.assert_array_equal(pool.submit(run).result().output, [0.0, 1.0])
