"""Slack rescaling and latent parts of outputs of feasible sets, which need a method of the user."""

from typing import Any

import numpy as np
import pytest

from structsvm import StructuralSVM
from structsvm.estimators import LatentStructuralSVM
from structsvm.exceptions import InputError
from structsvm.inference.sets import Bounded, FeasibleSet, Program, Subset
from structsvm.inference.sets.base import output_alone
from structsvm.losses import LatentLoss, PartHamming, Regret, SlackRescaled
from structsvm.testing import check_latent_loss, check_loss
from tests.losses.exhaustive import exhaustive_objective

SETS = [Subset(n=4, k=2), Program(([[1, 1, 1, 1], [-1, -1, -1, -1]], [2, -2]))]
SETS_BY_NAME = pytest.mark.parametrize("feasible", SETS, ids=["named", "program"])

RNG = np.random.default_rng(0)
XS = [RNG.normal(size=(4, 3)) for _ in range(8)]
YS = [SETS[0].maximize(x @ [1.0, -1.0, 0.5] + RNG.normal(size=4)) for x in XS]


class RescaledParts(PartHamming):
    """Slack rescaling by enumeration."""

    def slack_rescaled_argmax(self, scores: Any, y: Any) -> Any:
        truth = scores @ self.encode(y, y)
        values = [(self.loss(y, one) * (1.0 + scores @ one - truth), tuple(one)) for one in self.outputs(y)]
        value, best = max(values)
        return Bounded(np.array(best), value + truth) if self.bounded else np.array(best)


@SETS_BY_NAME
@pytest.mark.parametrize("by_example", [False, True])
def test_slack_rescaling_reaches_the_optimum_if_its_argmax_is_written(feasible, by_example):
    loss: Any = SlackRescaled(RescaledParts((lambda x: feasible) if by_example else feasible))
    if not by_example:
        check_loss(loss, YS[:3])
    model = StructuralSVM(loss, C=10.0, tol=1e-6).fit(XS, YS)
    optimum = exhaustive_objective(loss, list(zip(XS, YS, strict=True)), 10.0)
    assert model.result_.dual - 1e-7 <= optimum <= model.result_.primal + 1e-7
    assert model.result_.primal == pytest.approx(optimum, abs=1e-5)
    assert model.score(XS, YS) == pytest.approx(np.mean(np.array(model.predict(XS)) == YS))


@SETS_BY_NAME
@pytest.mark.parametrize("loss", [PartHamming, Regret])
def test_slack_rescaling_names_the_method_that_is_missing(loss, feasible):
    with pytest.raises(InputError, match=f"{loss.__name__} has no slack_rescaled_argmax.* Leave out SlackRescaled"):
        SlackRescaled(loss(feasible))


class HiddenParts(LatentLoss[Any, Any, Any]):
    """Outputs of a set of which only the first two parts are observed."""

    bounded = property(lambda self: not self.feasible.exact)  # type: ignore[assignment]
    exact = property(lambda self: self.feasible.exact)  # type: ignore[assignment]

    def __init__(self, feasible: FeasibleSet) -> None:
        self.feasible = feasible

    def joint_feature(self, x: Any, y: Any, h: Any) -> Any:
        return x.T @ np.concatenate((y, h))

    def loss(self, y: Any, y_hat: Any, h_hat: Any) -> float:
        return float(np.mean(np.not_equal(y, y_hat)))

    def initial(self, x: Any, y: Any) -> Any:
        return self.complete(x, y, np.zeros(3))

    def complete(self, x: Any, y: Any, w: Any) -> Any:
        if isinstance(self.feasible, Program):
            return output_alone(self.feasible.fixed({0: y[0], 1: y[1]}).maximize(x @ w))[2:]
        scores = x @ w
        scores[:2] = np.where(y, 1e3, -np.inf)
        return self.feasible.maximize(scores)[2:]

    def loss_augmented_argmax(self, x: Any, y: Any, w: Any) -> Any:
        scores = x @ w + np.append(0.5 - np.array(y), (0.0, 0.0))
        answer = self.feasible.maximize(scores)
        output = output_alone(answer)
        pair = output[:2], output[2:]
        if self.exact:
            return pair
        bound = answer.bound if isinstance(answer, Bounded) else scores @ output
        return Bounded(pair, bound + 0.5 * sum(y))

    def argmax(self, x: Any, w: Any) -> Any:
        output = output_alone(self.feasible.maximize(x @ w))
        return output[:2], output[2:]

    def outputs(self, x: Any, y: Any) -> Any:
        return [(one[:2], one[2:]) for one in self.feasible.outputs()]

    def completions(self, x: Any, y: Any) -> Any:
        return [h for first, h in self.outputs(x, y) if np.array_equal(first, y)]


@SETS_BY_NAME
def test_parts_of_a_set_may_be_latent(feasible):
    ys = [y[:2] for y in YS]
    check_latent_loss(HiddenParts(feasible), list(zip(XS, ys, strict=True))[:3])
    model = LatentStructuralSVM(HiddenParts(feasible), C=10.0).fit(XS, ys)
    assert model.stationary_
    assert all(feasible.contains(np.concatenate(pair)) for pair in model.predict_latent(XS))
    assert model.score(XS, ys) > 0.8


@SETS_BY_NAME
def test_a_loss_without_latents_is_no_latent_loss(feasible):
    with pytest.raises(InputError, match=r"loss=...\) must be a LatentLoss, got PartHamming"):
        LatentStructuralSVM(PartHamming(feasible)).fit(XS, YS)
