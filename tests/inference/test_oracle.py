"""Functions of users as feasible sets."""

import pickle

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from structsvm.exceptions import InputError, OracleError
from structsvm.inference.sets import Bounded, Oracle, Program


def hungarian(scores):
    rows, columns = linear_sum_assignment(scores.reshape(4, 4), maximize=True)
    out = np.zeros((4, 4))
    out[rows, columns] = 1.0
    return out.ravel()


def largest_part(scores):
    return np.eye(len(scores))[np.argmax(scores)]


def above(scores, data, out):
    for part in range(len(scores)):
        out[part] = 1.0 if scores[part] > data[0] else 0.0


def test_oracle_equals_the_program():
    ones = np.ones(4)
    rows = np.vstack([np.kron(np.eye(4), ones), np.kron(ones, np.eye(4))])
    program = Program([(rows, np.ones(8)), (-rows, -np.ones(8))])
    oracle, rng = Oracle(hungarian, size=16), np.random.default_rng(0)
    for _ in range(50):
        scores = rng.normal(size=16)
        np.testing.assert_array_equal(oracle.maximize(scores), program.maximize(scores))
    assert oracle.contains(np.eye(4).ravel())
    assert not oracle.contains(np.ones(16))
    assert not oracle.contains(np.ones(4))


def test_kernel_runs_compiled_with_its_constants():
    oracle = Oracle(kernel=above, size=3, constants=[0.0])
    np.testing.assert_array_equal(oracle.maximize([0.5, -1.0, 2.0]), [1.0, 0.0, 1.0])
    assert oracle.kernel is above
    np.testing.assert_array_equal(oracle.data(), [0.0])


def test_pickled_oracle_gives_the_same_outputs():
    for oracle in (Oracle(largest_part, size=3), Oracle(kernel=above, size=3, constants=[0.0])):
        restored = pickle.loads(pickle.dumps(oracle))
        np.testing.assert_array_equal(restored.maximize([-1.0, -3.0, 2.0]), [0.0, 0.0, 1.0])


def test_reused_buffer_is_copied():
    buffer = np.zeros(3)

    def refilled(scores):
        buffer[:] = largest_part(scores)
        return buffer

    oracle = Oracle(refilled, size=3)
    first = oracle.maximize([1.0, 0.0, 0.0])
    oracle.maximize([0.0, 1.0, 0.0])
    np.testing.assert_array_equal(first, [1.0, 0.0, 0.0])


def test_function_may_change_its_scores():
    def destructive(scores):
        out = largest_part(scores)
        scores[:] = 0.0
        return out

    scores = np.array([1.0, 2.0])
    Oracle(destructive, size=2).maximize(scores)
    np.testing.assert_array_equal(scores, [1.0, 2.0])


def test_output_worse_than_an_earlier_one_is_an_error():
    answers = iter(np.eye(3)[[0, 1, 2]])
    oracle = Oracle(lambda scores: next(answers), size=3)
    oracle.maximize([3.0, 0.0, 0.0])
    with pytest.raises(OracleError, match=r"score 1, but an output that it returned before has the score 2: .* differ"):
        oracle.maximize([2.0, 1.0, 0.0])


def test_equal_outputs_and_rounding_are_accepted():
    oracle, rng = Oracle(largest_part, size=3), np.random.default_rng(0)
    for _ in range(100):
        scores = rng.integers(0, 2, size=3) + 1e-12 * rng.normal(size=3)
        assert scores @ oracle.maximize(scores) == scores.max()


def test_bounded_output_improves_by_earlier_outputs():
    answers = iter([Bounded([1.0, 0.0], 3.0), Bounded([0.0, 1.0], 3.0), Bounded([0.0, 1.0], 1.5)])
    oracle = Oracle(lambda scores: next(answers), size=2, exact=False)
    oracle.maximize([3.0, 0.0])
    output, bound = oracle.maximize([2.0, 1.0])
    np.testing.assert_array_equal(output, [1.0, 0.0])
    assert bound == 3.0
    with pytest.raises(OracleError, match=r"returned the bound 1\.5, but an output"):
        oracle.maximize([2.0, 1.0])


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([1.0, 0.0], r"Oracle\(answering\) returned shape \(2,\) for 3 scores: it must return one number per part"),
        ([1.0, np.nan, 0.0], "returned NaN or infinity for part 1"),
        ("path", "must return 3 numbers, got 'path'"),
        (None, "must return 3 numbers|returned shape"),
        (Bounded([1.0, 0.0, 0.0], 2.0), "returned Bounded: pass exact=False"),
    ],
)
def test_wrong_results_are_errors(answer, message):
    def answering(scores):
        return answer

    with pytest.raises(InputError, match=message):
        Oracle(answering, size=3).maximize(np.zeros(3))


def test_bound_that_is_no_number_is_an_error():
    oracle = Oracle(lambda scores: Bounded([1.0], np.nan), size=1, exact=False)
    with pytest.raises(InputError, match="returned the bound nan"):
        oracle.maximize(np.zeros(1))


def test_kernel_that_numba_cannot_compile_is_an_error():
    def odd(scores, data, out):
        out[:] = {}

    with pytest.raises(InputError, match=r"numba cannot compile the kernel of Oracle\(odd\): pass a function"):
        Oracle(kernel=odd, size=3).maximize(np.zeros(3))


def test_wrong_settings_are_errors():
    for settings in ({}, {"function": largest_part, "kernel": above}, {"function": 3}):
        with pytest.raises(InputError, match=r"Oracle\(\.\.\.\) needs"):
            Oracle(size=3, **settings)
    with pytest.raises(InputError, match="size"):
        Oracle(largest_part, size=0)
