"""Messages of check_loss about methods that fail or return nonsense: the method, the place, and the result."""

import re
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numba
import numpy as np
import pytest

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.losses import ROCArea, ZeroOne
from structsvm.solvers import OneSlack
from structsvm.testing import check_loss
from tests.small_problems import Kronecker, ranking

PAIRS = [(np.array([1.0, -0.5]), k) for k in range(3)]


def fails(*arguments: Any) -> Any:
    raise KeyError("oops")


def returns(thing: Any) -> Callable[..., Any]:
    return lambda *arguments: thing


def complaint(base: type, examples: Any = None, **methods: Any) -> AssertionError:
    mine = type("Mine", (base,), {"kernel": None, **methods})
    with pytest.raises(AssertionError) as caught:
        check_loss(mine(), examples)
    return caught.value


@pytest.mark.parametrize(
    ("came", "words"),
    [
        (None, "None"),
        (np.zeros((2, 2)), "an array of shape (2, 2)"),
        (np.zeros(3), "3 numbers, [0., 0., 0.]"),
        ([0.0, np.nan], "[0.0, nan]"),
        ("code", "'code'"),
    ],
    ids=["None", "2-d", "too long", "NaN", "text"],
)
def test_malformed_encodings_are_named(came: Any, words: str) -> None:
    assert str(complaint(ROCArea, encode=returns(came))) == (
        f"Mine.encode returned {words}: it must return a vector of 2 finite numbers, one per score"
        "\n  example y = [1., 0.]\n  output ŷ = [1., 0.]"
    )
    said = str(complaint(Kronecker, PAIRS, joint_feature=returns(came if came is None else [came, came])))
    assert said.startswith("Mine.joint_feature returned ")
    assert said.endswith("the same number for every x and y\n  example x = [ 1. , -0.5], y = 0\n  output ŷ = 0")


def test_joint_features_are_as_many_for_every_example() -> None:
    said = str(complaint(Kronecker, [(np.ones(2), 0), (np.ones(3), 0)]))
    assert "Mine.joint_feature returned 9 numbers, [1., 1., 1., 0., 0., 0., 0., 0., 0.]: it must" in said
    assert "a vector of 6 finite numbers" in said


@pytest.mark.parametrize("method", ["encode", "loss", "loss_augmented_argmax", "argmax", "usable", "outputs"])
def test_errors_of_methods_are_reported_with_their_arguments(method: str) -> None:
    error = complaint(ROCArea, **{method: fails})
    assert str(error).startswith(f"Mine.{method} raised KeyError: 'oops'\n  example y = [")
    assert isinstance(error.__cause__, KeyError)
    assert ("\n  scores = [0., 0.]" in str(error)) == ("argmax" in method)


@pytest.mark.parametrize("method", ["joint_feature", "loss", "loss_augmented_argmax", "argmax", "outputs"])
def test_errors_of_a_generic_loss_are_reported_with_their_arguments(method: str) -> None:
    error = complaint(Kronecker, PAIRS, **{method: fails})
    assert str(error).startswith(f"Mine.{method} raised KeyError: 'oops'\n  example x = [ 1. , -0.5], y = 0")
    assert ("\n  w = [0., 0., 0., 0., 0., 0.]" in str(error)) == ("argmax" in method)


def test_an_argmax_that_returns_nothing() -> None:
    said = str(complaint(ROCArea, argmax=returns(None)))
    assert re.match(
        r"Mine.argmax returned None, which is not a valid output: Mine.encode raised InputError: .*\n", said
    )
    assert said.endswith("\n  example y = [1., 0.]\n  scores = [0., 0.]")
    said = str(complaint(Kronecker, PAIRS, argmax=returns(None)))
    assert said.startswith(
        "Mine.argmax returned None, which is not a valid output: Mine.joint_feature returned an array"
    )


@pytest.mark.parametrize(("loss", "pairs"), [(ROCArea, None), (Kronecker, PAIRS)])
def test_a_loss_augmented_argmax_that_returns_nothing(loss: Any, pairs: Any) -> None:
    said = str(complaint(loss, pairs, loss_augmented_argmax=returns(None)))
    assert said.startswith("Mine.loss_augmented_argmax returned None: it must return an output\n  example ")


@pytest.mark.parametrize("came", [None, "1", np.inf, -1.0, [1.0, 2.0]])
def test_a_loss_that_is_no_number(came: Any) -> None:
    said = str(complaint(ROCArea, loss=returns(came)))
    if came == "1":  # what float reads is taken for a number
        assert said.startswith("Mine.loss returned 1.0 for the truth: Δ(y, y) must be 0")
    else:
        assert said.startswith(f"Mine.loss returned {came!r}: it must return a number of at least 0\n  example")


def test_no_outputs() -> None:
    assert str(complaint(ROCArea, outputs=returns([]))).startswith("Mine.outputs returned no output\n  example y = [")


def no_number(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0


def unknown_attribute(scores, labels, params, out):  # type: ignore[no-untyped-def]
    return labels[0].no_such_thing


@pytest.mark.parametrize(
    ("kernel", "numba_says"),
    [
        (no_number, "No conversion from none to float64"),
        (unknown_attribute, "Unknown attribute 'no_such_thing' of type float64"),
    ],
)
def test_a_kernel_that_cannot_be_compiled(kernel: Any, numba_says: str) -> None:
    said = str(complaint(ROCArea, kernel=staticmethod(kernel)))
    assert said.startswith(
        f"Mine: kernel {kernel.__name__} cannot be compiled. It must be a plain function of four float64 vectors that "
        f"returns a number, made of loops, numbers and NumPy. numba says: {numba_says}"
    )
    assert re.search(r"\(File .*test_check_loss_messages.py\", line \d+\)$", said)
    assert "\n" not in said
    loss = type("Mine", (ROCArea,), {"kernel": staticmethod(kernel)})()
    with pytest.raises(InputError, match="cannot be compiled"):
        OneSlack().solve(ranking(loss, 0))


@pytest.mark.parametrize("kernel", ["text", 5, lambda scores, labels, out: 0.0])
def test_invalid_kernels_are_named(kernel: Any) -> None:
    said = str(complaint(ROCArea, kernel=staticmethod(kernel) if callable(kernel) else kernel))
    assert said == f"Mine: kernel must be a function kernel(scores, labels, params, out), got {kernel!r}"


def test_a_kernel_that_numba_has_decorated_is_one_too() -> None:
    mine = type("Mine", (ROCArea,), {"kernel": staticmethod(numba.njit(ROCArea.kernel))})()
    check_loss(mine)
    assert OneSlack().solve(ranking(mine, 0)).converged


def beyond_labels(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    return labels[len(scores)]


def beyond_params(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[:] = 0.0
    return params[3]


def beyond_out(scores, labels, params, out):  # type: ignore[no-untyped-def]
    out[len(out)] = 0.0
    return 0.0


@pytest.mark.parametrize("kernel", [beyond_labels, beyond_params, beyond_out])
def test_a_kernel_that_reads_or_writes_beyond_its_vectors(kernel: Any) -> None:
    """Compiled, it would continue with arbitrary memory."""
    said = str(complaint(ROCArea, kernel=staticmethod(kernel)))
    assert said.startswith("Mine.kernel reads or writes beyond its vectors: index ")


def fails_in_python_only(scores, labels, params, out):  # type: ignore[no-untyped-def]
    places = np.empty(1, numba.int64)
    places[0] = 1
    return right(scores, labels, params, out) / places[0]


right = numba.njit(ROCArea.kernel)


def test_failures_in_python_alone_are_ignored() -> None:
    with pytest.raises(TypeError):
        fails_in_python_only(np.zeros(2), np.zeros(2), np.zeros(0), np.zeros(2))
    check_loss(type("Mine", (ROCArea,), {"kernel": staticmethod(fails_in_python_only)})())


@pytest.mark.parametrize(
    ("method", "came", "words"),
    [
        ("labels", None, "None"),
        ("labels", np.zeros((2, 2)), "an array of shape (2, 2)"),
        ("labels", ["a"], "['a']"),
        ("params", "table", "'table'"),
        ("params", np.zeros((3, 1)), "an array of shape (3, 1)"),
    ],
)
def test_labels_and_params_must_be_vectors(method: str, came: Any, words: str) -> None:
    said = str(complaint(ROCArea, kernel=staticmethod(ROCArea.kernel), **{method: returns(came)}))
    assert said == f"Mine.{method} returned {words}: it must return a vector of numbers\n  example y = [1., 0.]"


def test_usable_says_yes_or_no() -> None:
    said = str(complaint(ROCArea, usable=returns(None)))
    assert said == "Mine.usable returned None: it must return True or False\n  example y = [0.]"


@pytest.mark.parametrize("method", ["loss_augmented_argmax", "argmax"])
def test_a_list_of_documents_is_no_output(method: str) -> None:
    said = str(complaint(ROCArea, **{method: lambda self, scores, *y: np.argsort(-scores)}))
    assert f"Mine.{method} does not return a maximizer" in said
    assert (
        "  This looks like document numbers, best first; an output is one number per document, larger is ahead" in said
    )


def test_only_a_list_of_documents_is_taken_for_one() -> None:
    assert "document numbers" not in str(complaint(ROCArea, argmax=lambda self, scores: -scores))


def writes_to_labels(self: Any, scores: Any, y: Any) -> Any:
    y -= 1.0
    return scores


def writes_to_x(self: Any, x: Any, y: Any, w: Any) -> Any:
    x[0] = 7.0
    return y


@pytest.mark.parametrize(
    ("base", "examples", "write", "before"),
    [(ROCArea, [np.array([1.0, 0.0])], writes_to_labels, "[1., 0.]"), (Kronecker, PAIRS, writes_to_x, "[ 1. , -0.5]")],
)
def test_an_argmax_that_changes_its_example(base: type, examples: Any, write: Any, before: str) -> None:
    said = str(complaint(base, deepcopy(examples), loss_augmented_argmax=write))
    assert said.startswith("Mine.loss_augmented_argmax changed the example, which was ")
    assert before in said.splitlines()[0]
    assert said.splitlines()[0].endswith(": work on a copy")


def test_the_verdict_comes_first_and_large_arrays_are_shortened() -> None:
    x = np.random.default_rng(0).standard_normal((100, 20))
    worst = {"argmax": lambda self, x, w: int(np.argmin(w.reshape(3, -1) @ x.ravel()))}
    flat = {
        "joint_feature": lambda self, x, y: np.kron(np.eye(3)[y], x.ravel()),
        "loss_augmented_argmax": lambda self, x, y, w: int(np.argmax(self.costs[y] + w.reshape(3, -1) @ x.ravel())),
    }
    lines = str(complaint(Kronecker, [(x, 0)], **flat, **worst)).splitlines()
    assert lines[0] == "Mine.argmax does not return a maximizer of w·Ψ(x, ŷ):"
    assert lines[3] == "  example x = <array of shape (100, 20)>, y = 0"
    assert all(len(line) < 150 for line in lines)


def test_a_loss_by_name_as_a_class_and_as_something_else() -> None:
    check_loss("roc_area")
    check_loss("multiclass", "abc")
    with pytest.raises(InputError, match=r"^ROCArea is a class: pass an object, ROCArea\(\)"):
        check_loss(ROCArea)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="unknown loss 'osqp'. 'osqp' is a QP backend"):
        check_loss("osqp")
    with pytest.raises(InputError, match="3 is not a valid loss"):
        check_loss(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loss", "pair"), [(ROCArea(), (np.ones((2, 5)), np.array([1.0, 0.0]))), (ZeroOne(), (np.ones(5), 1.0))]
)
def test_a_score_loss_takes_no_pairs(loss: Any, pair: Any) -> None:
    with pytest.raises(InputError, match="is a ScoreLoss, which sees no features: an example is a true output y, not"):
        check_loss(loss, [pair])


def test_an_empty_list_of_examples_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^no examples were given to check ROCArea\(.*\) with: give a few"):
        check_loss(ROCArea(), [])


@pytest.mark.parametrize("example", [0, np.ones(2), (np.ones(2), 0, 1)])
def test_a_generic_loss_takes_pairs(example: Any) -> None:
    with pytest.raises(InputError, match=r"Kronecker is a Loss: an example is a pair \(x, y\), not "):
        check_loss(Kronecker(), [example])
