"""Check a latent loss by enumeration on small examples."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from structsvm.exceptions import InputError
from structsvm.foundation.settings import as_list, require_integer, require_kind
from structsvm.foundation.types import Vector
from structsvm.losses.latent import Completed, LatentLoss
from structsvm.problem.checking.methods import Methods, show
from structsvm.testing.losses import check_loss

_SIZES = (0.0, 0.1, 1.0, 10.0)
"""Sizes of weights to try, as score differences between completions."""


def check_latent_loss(
    loss: LatentLoss[Any, Any, Any],
    examples: Iterable[tuple[Any, Any]],
    *,
    trials: int = 12,
    tol: float = 1e-8,
    random_state: int = 0,
) -> None:
    """Check a latent loss against the enumeration of its outputs and completions.

    With each truth's latent variable fixed to ``initial``, the loss is a `Loss` whose outputs are pairs; `check_loss`
    checks it. In addition, ``complete`` must find the maximum over ``completions`` at many weights, and the loss of
    every completion must be at most ``tol`` times the largest. An h that both methods lack goes unnoticed.

    Parameters
    ----------
    loss : the loss, which lists the outputs and completions of small examples; `LatentLoss` has an example.
    examples : pairs (x, y).
    trials, tol, random_state : as in `check_loss`.

    Raises
    ------
    CheckError : a check or a method fails; the message names the method, the example and the weights.

    Examples
    --------
    >>> from structsvm.losses import LatentLoss
    >>> class OneIsLarge(LatentLoss):  # y is 1 if x has a large number; h is its index
    ...     def joint_feature(self, x, y, h):
    ...         return y * np.array([x[h], 1.0])
    ...     def loss(self, y, y_hat, h_hat):
    ...         return float(y != y_hat)
    ...     def initial(self, x, y):
    ...         return 0
    ...     def completions(self, x, y):
    ...         return range(len(x)) if y else [0]
    ...     def outputs(self, x, y):
    ...         return [(y_hat, h) for y_hat in (0, 1) for h in self.completions(x, y_hat)]
    ...     def complete(self, x, y, w):
    ...         return max(self.completions(x, y), key=lambda h: w @ self.joint_feature(x, y, h))
    ...     def argmax(self, x, w):
    ...         return max(self.outputs(x, 1), key=lambda o: w @ self.joint_feature(x, *o))
    ...     def loss_augmented_argmax(self, x, y, w):
    ...         return max(self.outputs(x, y), key=lambda o: self.loss(y, *o) + w @ self.joint_feature(x, *o))
    >>> check_latent_loss(OneIsLarge(), [([0.5, 2.0], 1), ([0.3, 0.1, 0.2], 0)])
    """
    require_kind("loss", loss, LatentLoss, "a LatentLoss")
    require_integer("trials", trials, 1)
    pairs = [_pair(example) for example in as_list("examples", examples, "a list of pairs (x, y)")]
    completed = Completed(loss)
    methods = Methods.of(completed, pairs)
    guesses = [methods.call("initial", partial(loss.initial, *pair), pair) for pair in pairs]
    truths = [(x, (y, h)) for (x, y), h in zip(pairs, guesses, strict=True)]
    check_loss(completed, truths, trials=trials, tol=tol, random_state=random_state)
    rng = np.random.default_rng(random_state)
    for (x, y), guess in zip(pairs, guesses, strict=True):
        latents = _completions(methods, loss, x, y)
        truth = x, (y, guess)
        largest = max((methods.delta(truth, output) for output in methods.outputs(truth) or ()), default=1.0)
        for h in [guess, *latents]:
            if (met := methods.delta(truth, (x, (y, h)))) > tol * largest:
                raise methods.wrong(
                    "loss", f"must be 0 at the true output for every h: it is {met:g}", (x, y), latent=h
                )
        features = np.array([_features(methods, x, y, h) for h in latents])
        spread = float(np.abs(features - features.mean(axis=0)).max()) or 1.0
        for size in _SIZES:
            for _ in range(trials):
                w: Vector = np.asarray(size / spread * rng.standard_normal(features.shape[1]))
                got = methods.call("complete", partial(loss.complete, x, y, w.copy()), (x, y), scores=w)
                value, best = float(w @ _features(methods, x, y, got)), float((features @ w).max())
                if abs(value - best) > tol * (1.0 + abs(best)):
                    other = latents[int(np.argmax(features @ w))]
                    what = "misses the maximum" if value < best else "returns an h that completions(x, y) does not list"
                    verdict = f"{what} for y = {show(y)}: h = {show(got)} has {value:g}, and {show(other)} has {best:g}"
                    raise methods.wrong("complete", verdict, (x, y), scores=w)


def _pair(example: Any) -> tuple[Any, Any]:
    """Return an example as a pair; reject others."""
    if not isinstance(example, tuple | list) or len(example) != 2:
        raise InputError(
            f"examples must be a list of pairs (x, y), such as list(zip(X, y)): one of them is {show(example)}"
        )
    return example[0], example[1]


def _completions(methods: Methods, loss: LatentLoss[Any, Any, Any], x: Any, y: Any) -> list[Any]:
    """Return a true output's completions; require at least one."""
    try:
        listed = methods.call("completions", partial(loss.completions, x, y), (x, y))
    except NotImplementedError as error:
        raise InputError(f"{error}: complete is compared with the completions that it lists") from None
    try:
        latents = list(listed)
    except TypeError:
        verdict = f"returned {show(listed)}: it must return a list of all h of the truth"
        raise methods.wrong("completions", verdict, (x, y)) from None
    if not latents:
        raise methods.wrong("completions", "lists no h", (x, y))
    return latents


def _features(methods: Methods, x: Any, y: Any, h: Any) -> Vector:
    """Return ``Ψ(x, y, h)``."""
    return methods.encode((x, (y, h)), (x, (y, h)), None)
