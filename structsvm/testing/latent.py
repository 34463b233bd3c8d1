"""Checks that a latent loss is what the engine takes it for, by enumeration on small examples."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from structsvm.losses.latent import Completed, LatentLoss
from structsvm.settings import as_list, require_integer, require_kind
from structsvm.testing.losses import check_loss
from structsvm.testing.methods import show
from structsvm.types import Vector

_SIZES = (0.0, 0.1, 1.0, 10.0)
"""Of the differences of scores between completions that weights are tried at."""


def check_latent_loss(
    loss: LatentLoss[Any, Any, Any],
    examples: Iterable[tuple[Any, Any]],
    *,
    trials: int = 12,
    tol: float = 1e-8,
    seed: int = 0,
) -> None:
    """Check a latent loss against the enumeration of its outputs and completions.

    With the latent of each truth fixed at ``initial``, it is a `Loss` whose outputs are pairs, and all is checked that
    `check_loss` checks of one. Further: ``complete`` finds the maximum over ``completions`` at many weights, the
    completions are all pairs of outputs with the true output, and their loss is 0.

    Parameters
    ----------
    loss : the loss, which lists the outputs and completions of small examples.
    examples : pairs (x, y).
    trials, tol, seed : as in `check_loss`.

    Raises
    ------
    AssertionError : when a check fails; it names the method and the example.
    InputError : when there is nothing to check.
    """
    require_kind("loss", loss, LatentLoss, "a LatentLoss")
    require_integer("trials", trials, 1)
    pairs = as_list("examples", examples, "a list of pairs (x, y)")
    check_loss(Completed(loss), [(x, (y, loss.initial(x, y))) for x, y in pairs], trials=trials, tol=tol, seed=seed)
    rng = np.random.default_rng(seed)
    for x, y in pairs:
        known = list(loss.completions(x, y))
        for h in [loss.initial(x, y), *known]:
            if (met := loss.loss(y, y, h)) != 0.0:
                raise AssertionError(
                    f"{loss.title}.loss(y, y, h) must be 0 for every h: it is {met:g} at h = {show(h)}"
                )
        features = np.array([loss.joint_feature(x, y, h) for h in known])
        spread = float(np.abs(features - features.mean(axis=0)).max()) or 1.0
        for size in _SIZES:
            for _ in range(trials):
                w: Vector = np.asarray(size / spread * rng.standard_normal(features.shape[1]))
                found = loss.complete(x, y, w.copy())
                value, best = float(w @ loss.joint_feature(x, y, found)), float((features @ w).max())
                if abs(value - best) > tol * (1.0 + abs(best)):
                    other = known[int(np.argmax(features @ w))]
                    what = "misses the maximum" if value < best else "returns what completions(x, y) does not list"
                    raise AssertionError(
                        f"{loss.title}.complete {what} for y = {show(y)}: h = {show(found)} has {value:g}, "
                        f"and {show(other)} has {best:g}"
                    )
