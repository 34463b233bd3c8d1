"""What check_loss says of a loss whose methods fail or return nonsense: who, where, and what came."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.losses import ROCArea, ZeroOne
from structsvm.testing import check_loss
from tests.small_problems import Kronecker

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
def test_an_encoding_that_is_none(came: Any, words: str) -> None:
    assert str(complaint(ROCArea, encode=returns(came))) == (
        f"Mine.encode returned {words}: it must return a vector of 2 finite numbers, one a score, "
        "as many for every output\n  example y = [1., 0.]\n  output ŷ = [1., 0.]"
    )
    said = str(complaint(Kronecker, PAIRS, joint_feature=returns(came if came is None else [came, came])))
    assert said.startswith("Mine.joint_feature returned ")
    assert said.endswith("as many for every x and y\n  example x = [ 1. , -0.5], y = 0\n  output ŷ = 0")


def test_joint_features_are_as_many_for_every_example() -> None:
    said = str(complaint(Kronecker, [(np.ones(2), 0), (np.ones(3), 0)]))
    assert "Mine.joint_feature returned 9 numbers, [1., 1., 1., 0., 0., 0., 0., 0., 0.]: it must" in said
    assert "a vector of 6 finite numbers" in said


@pytest.mark.parametrize("method", ["encode", "loss", "loss_augmented_argmax", "argmax", "usable", "outputs"])
def test_what_a_method_raises_is_told_with_its_arguments(method: str) -> None:
    error = complaint(ROCArea, **{method: fails})
    assert str(error).startswith(f"Mine.{method} raised KeyError: 'oops'\n  example y = [")
    assert isinstance(error.__cause__, KeyError)
    assert ("\n  scores = [0., 0.]" in str(error)) == ("argmax" in method)


@pytest.mark.parametrize("method", ["joint_feature", "loss", "loss_augmented_argmax", "argmax", "outputs"])
def test_what_a_method_of_a_generic_loss_raises(method: str) -> None:
    error = complaint(Kronecker, PAIRS, **{method: fails})
    assert str(error).startswith(f"Mine.{method} raised KeyError: 'oops'\n  example x = [ 1. , -0.5], y = 0")
    assert ("\n  w = [0., 0., 0., 0., 0., 0.]" in str(error)) == ("argmax" in method)


@pytest.mark.parametrize("method", ["loss_augmented_argmax", "argmax"])
def test_an_argmax_that_returns_nothing(method: str) -> None:
    said = str(complaint(ROCArea, **{method: returns(None)}))
    assert re.match(rf"Mine.{method} returned None, which is no output: Mine.encode raised InputError: .*\n", said)
    assert said.endswith("\n  example y = [1., 0.]\n  scores = [0., 0.]")
    said = str(complaint(Kronecker, PAIRS, **{method: returns(None)}))
    assert said.startswith(f"Mine.{method} returned None, which is no output: Mine.joint_feature returned an array")


@pytest.mark.parametrize("came", [None, "1", np.inf, -1.0, [1.0, 2.0]])
def test_a_loss_that_is_no_number(came: Any) -> None:
    said = str(complaint(ROCArea, loss=returns(came)))
    if came == "1":  # what float reads is taken for a number
        assert said.startswith("Mine.loss returned 1.0 for the truth: Δ(y, y) must be 0")
    else:
        assert said.startswith(f"Mine.loss returned {came!r}: it must return a number of at least 0\n  example")


def test_no_outputs() -> None:
    assert str(complaint(ROCArea, outputs=returns([]))).startswith("Mine.outputs lists no output\n  example y = [")


def test_a_kernel_that_fails_is_told_apart() -> None:
    said = str(complaint(ROCArea, kernel=staticmethod(lambda scores, labels, params, out: labels[0].no_such_thing)))
    assert said.startswith("Mine.kernel raised TypingError: ")


def test_the_verdict_comes_first_and_large_arrays_are_shortened() -> None:
    x = np.random.default_rng(0).standard_normal((100, 20))
    worst = {"argmax": lambda self, x, w: int(np.argmin(w.reshape(3, -1) @ x.ravel()))}
    flat = {
        "joint_feature": lambda self, x, y: np.kron(np.eye(3)[y], x.ravel()),
        "loss_augmented_argmax": lambda self, x, y, w: int(np.argmax(self.costs[y] + w.reshape(3, -1) @ x.ravel())),
    }
    lines = str(complaint(Kronecker, [(x, 0)], **flat, **worst)).splitlines()
    assert lines[0] == "Mine.argmax does not return a maximiser of w·Ψ(x, ŷ):"
    assert lines[3] == "  example x = <array of shape (100, 20)>, y = 0"
    assert all(len(line) < 150 for line in lines)


def test_a_loss_by_name_as_a_class_and_as_something_else() -> None:
    check_loss("roc_area")
    check_loss("multiclass", "abc")
    with pytest.raises(InputError, match=r"^ROCArea is a class: pass an object, ROCArea\(\)"):
        check_loss(ROCArea)  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="no loss named 'osqp'. 'osqp' is a QP backend"):
        check_loss("osqp")
    with pytest.raises(InputError, match="3 is no loss"):
        check_loss(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("loss", "pair"), [(ROCArea(), (np.ones((2, 5)), np.array([1.0, 0.0]))), (ZeroOne(), (np.ones(5), 1.0))]
)
def test_a_score_loss_takes_no_pairs(loss: Any, pair: Any) -> None:
    with pytest.raises(InputError, match="is a ScoreLoss, which sees no features: an example is a true output y, not"):
        check_loss(loss, [pair])


@pytest.mark.parametrize("example", [0, np.ones(2), (np.ones(2), 0, 1)])
def test_a_generic_loss_takes_pairs(example: Any) -> None:
    with pytest.raises(InputError, match=r"Kronecker is a Loss: an example is a pair \(x, y\), not "):
        check_loss(Kronecker(), [example])
