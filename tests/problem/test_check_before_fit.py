"""The short check of a user's loss before its first fit."""

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from attrs import frozen

from structsvm import Ranker, StructuralSVM
from structsvm.distributed import DistributedProblem, InProcess, Partition
from structsvm.estimators.ramp_ranker import RampRanker
from structsvm.exceptions import CheckError
from structsvm.foundation.types import Vector
from structsvm.losses import GradedPairsLoss, ROCArea, SlackRescaled
from structsvm.problem import Problem
from structsvm.problem.checking import before_fit
from structsvm.testing import check_loss
from tests.small_problems import Kronecker, ranking_arrays

X, Y, QID = ranking_arrays(0, queries=8, documents=6)
ARGMAX = "loss_augmented_argmax"


def made(**methods: Any) -> Any:
    return type("Mine", (ROCArea,), {"kernel": None, **methods})()


def wrong(self: Any, scores: Vector, y: Vector) -> Vector:
    return ROCArea.loss_augmented_argmax(self, -scores, y)


def fit_distributed(loss: Any) -> Any:
    return DistributedProblem.from_queries(InProcess(), [Partition(X, Y, QID)], loss=loss)


def fit_classes(**methods: Any) -> Any:
    loss = type("Mine", (Kronecker,), methods)()
    return StructuralSVM(loss).fit(list(X[:12]), [0, 1, 2] * 4)


@pytest.mark.parametrize(
    "fit",
    [
        lambda loss: Ranker(loss).fit(X, Y, qid=QID),
        lambda loss: RampRanker(loss).fit(X, Y, qid=QID),
        lambda loss: StructuralSVM(loss).fit(np.split(X, 8), np.split(Y, 8)),
        lambda loss: Problem.from_queries(X, Y, QID, loss=loss),
        fit_distributed,
    ],
    ids=["Ranker", "RampRanker", "StructuralSVM", "Problem", "distributed"],
)
def test_every_way_into_a_fit_has_it(fit: Callable[[Any], Any]) -> None:
    words = r"Mine.loss_augmented_argmax does not return a maximizer[\s\S]*found before the fit, on .*example \d"
    with pytest.raises(CheckError, match=words):
        fit(made(**{ARGMAX: wrong}))


def test_a_loss_of_joint_features_is_checked_on_the_examples_alone() -> None:
    def outputs(self: Any, x: Any, y: Any) -> Any:
        raise AssertionError("outputs of the user's own examples may be far too many")

    def sign(self: Any, x: Any, y: Any, w: Any) -> Any:
        return Kronecker.loss_augmented_argmax(self, x, y, -w)

    assert fit_classes(outputs=outputs).result_.converged
    with pytest.raises(CheckError, match="found before the fit, on example"):
        fit_classes(outputs=outputs, loss_augmented_argmax=sign)


def test_a_loss_within_another_is_checked() -> None:
    class Mine(Kronecker):
        def slack_rescaled_argmax(self, x: Any, y: Any, w: Any) -> int:
            return 2

    with pytest.raises(CheckError, match="found before the fit"):
        Problem.from_examples(list(X[:12]), [0, 1, 2] * 4, loss=SlackRescaled(Mine()))


def test_the_class_may_leave_it_out() -> None:
    Problem.from_queries(X, Y, QID, loss=made(**{ARGMAX: wrong}, check_before_fit=False))
    generic = type("Mine", (Kronecker,), {ARGMAX: lambda self, x, y, w: y, "check_before_fit": False})
    Problem.from_examples(list(X[:12]), [0, 1, 2] * 4, loss=generic())


def test_it_runs_once_for_a_loss_and_its_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    right = before_fit._Check._check_one
    monkeypatch.setattr(
        before_fit._Check,
        "_check_one",
        lambda self, loss, place, *more: seen.append(place) or right(self, loss, place, *more),
    )

    @frozen
    class Mine(ROCArea):
        kernel = None

    counts = []
    for loss, labels in [(Mine(), Y), (Mine(), Y), (Mine(relevant_from=1), Y), (Mine(), 2 * Y), (Mine(), 2 * Y)]:
        Problem.from_queries(X, labels, QID, loss=loss)
        counts.append(len(seen))
    assert 0 < counts[0] == counts[1] < counts[2] < counts[3] == counts[4]
    Problem.from_queries(X, Y, QID, loss="roc_area")
    assert len(seen) == counts[4]


def test_nothing_of_the_user_changes() -> None:
    class Mine(ROCArea):
        kernel = None

        def __init__(self) -> None:
            super().__init__()
            object.__setattr__(self, "calls", [])

        def loss_augmented_argmax(self, scores: Vector, y: Vector) -> Vector:
            self.calls.append((random.random(), np.random.random()))  # type: ignore[attr-defined]  # noqa: NPY002
            return super().loss_augmented_argmax(scores, y)

    loss, labels = Mine(), Y.copy()
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    Problem.from_queries(X, labels, QID, loss=loss)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index]  # noqa: NPY002
    assert not loss.calls  # type: ignore[attr-defined]
    assert np.array_equal(labels, Y)


def test_a_slow_loss_waits_for_a_moment_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(before_fit, "_WALL_SECONDS", 0.05)
    calls: list[int] = []

    def slow(self: Any, scores: Vector, y: Vector) -> Vector:
        calls.append(len(y))
        time.sleep(0.03)
        return ROCArea.loss_augmented_argmax(self, scores, y)

    Problem.from_queries(X, Y, QID, loss=made(**{ARGMAX: slow}))
    assert 2 <= len(calls) <= 4


def test_a_loss_that_is_not_made_for_parts_of_queries_passes() -> None:
    def encode(self: Any, y_hat: Vector, y: Vector) -> Vector:
        if len(y) != 6:
            raise ValueError("six documents, always")
        return ROCArea.encode(self, y_hat, y)

    def loss(self: Any, y: Vector, y_hat: Vector) -> float:
        return ROCArea.loss(self, y, y_hat) + 0.1 * (len(y) != 6)

    Problem.from_queries(X, Y, QID, loss=made(encode=encode))
    Problem.from_queries(X, Y, QID, loss=made(loss=loss))


def test_rounding_is_no_mistake() -> None:
    """The loss of a truth is often 1 less a quotient that is 1 but for the last bit."""

    def loss(self: Any, y: Vector, y_hat: Vector) -> float:
        return ROCArea.loss(self, y, y_hat) + 1e-16 * next(calls)

    calls = iter(range(10**6))
    Problem.from_queries(X, Y, QID, loss=made(loss=loss))
    check_loss(made(loss=loss), trials=1)


def test_queries_too_small_to_show_a_mistake_vouch_for_no_larger_ones() -> None:
    """The weights of a single pair are 1 whatever they are, so random weights are right there alone."""
    noise = np.random.default_rng(0)
    loss = type("Mine", (GradedPairsLoss,), {"weight": lambda _, better, worse: noise.uniform(0.1, 2.0, len(better))})()
    pairs, mixed = np.tile([0.0, 4.0], 2), np.array([0.0, 4.0] * 4 + [0.0, 4.0, 0.0])
    Problem.from_queries(np.eye(4), pairs, [0, 0, 1, 1], loss=loss)
    with pytest.raises(CheckError):
        Problem.from_queries(np.ones((11, 2)), mixed, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4], loss=loss)
