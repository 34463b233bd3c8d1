"""Messages of a fit about losses whose methods fail or return nonsense, without check_loss."""

from typing import Any

import numpy as np
import pytest

from structsvm.exceptions import InputError
from structsvm.losses import InterleavingLoss, ROCArea
from structsvm.problem import Problem
from structsvm.solvers import OneSlack
from tests.small_problems import Kronecker

X = np.random.default_rng(0).standard_normal((40, 3))
Y = np.tile([1.0, 0.0, 0.0, 0.0, 1.0], 8)
QID = np.repeat(np.arange(8), 5)


def complaint(base: type, **methods: Any) -> str:
    mine = type("Mine", (base,), {"kernel": None, **methods})
    with pytest.raises(InputError) as caught:
        OneSlack().solve(Problem.from_queries(X, Y, QID, loss=mine(), C=1.0))
    said = str(caught.value)
    assert said.endswith(" Run structsvm.testing.check_loss on the loss.")
    assert ".. " not in said
    return said


def fails(*arguments: Any) -> Any:
    raise KeyError("oops")


@pytest.mark.parametrize("method", ["encode", "loss", "loss_augmented_argmax", "usable"])
def test_a_method_that_raises_is_named(method: str) -> None:
    assert complaint(ROCArea, **{method: fails}).startswith(f"Mine.{method} raised KeyError: 'oops'. ")


@pytest.mark.parametrize(
    ("method", "returned", "words"),
    [
        ("encode", np.zeros(2), "Mine.encode returned shape (2,), but the example has 5 scores"),
        ("encode", [[1.0], [1.0, 2.0]], "Mine.encode raised ValueError: setting an array element"),
        ("loss_augmented_argmax", None, "Mine.loss_augmented_argmax returned None: it must return an output"),
        ("loss_augmented_argmax", np.zeros(2), "Mine.loss_augmented_argmax returned an output of length 2 for"),
        ("loss_augmented_argmax", np.zeros(6), "Mine.loss_augmented_argmax returned an output of length 6 for"),
        ("loss", np.zeros(3), "Mine.loss raised ValueError: setting an array element"),
        ("usable", np.ones(5) > 0, "Mine.usable returned an array of shape (5,): it must return True or False"),
        ("usable", None, "Mine.usable returned None: it must return True or False"),
    ],
)
def test_what_cannot_be_used_is_told(method: str, returned: Any, words: str) -> None:
    assert words in complaint(ROCArea, **{method: lambda *arguments: returned})


def test_an_error_of_ours_is_not_wrapped() -> None:
    def refuse(*arguments: Any) -> Any:
        raise InputError("as it is")

    mine = type("Mine", (ROCArea,), {"kernel": None, "loss": refuse})
    with pytest.raises(InputError, match=r"^as it is$"):
        OneSlack().solve(Problem.from_queries(X, Y, QID, loss=mine(), C=1.0))


class Scalar(InterleavingLoss):
    """Written for one number at a time."""

    def cost(self, k: Any, j: Any, R: int, N: int) -> Any:
        return j / (1 + j) if k == 1 else 0.0


def test_a_cost_of_one_number_at_a_time() -> None:
    said = complaint(Scalar, kernel=InterleavingLoss.kernel)
    assert said.startswith("Mine.cost raised ValueError: The truth value of an array")
    assert "k and j are arrays: write np.where(condition, a, b) for if. " in said
    assert "np.where" not in complaint(Scalar, kernel=InterleavingLoss.kernel, cost=fails)


@pytest.mark.parametrize(("returned", "words"), [(None, "returned None"), (7, "Mine.loss raised IndexError")])
def test_a_generic_loss_is_told_by_its_own_name(returned: Any, words: str) -> None:
    mine = type("Mine", (Kronecker,), {"loss_augmented_argmax": lambda *arguments: returned})
    problem = Problem.from_examples(list(X[:4]), [0, 1, 2, 0], loss=mine(), C=1.0)
    with pytest.raises(InputError, match=words):
        OneSlack().solve(problem)
