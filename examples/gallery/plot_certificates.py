"""
How certificates reveal a wrong argmax
======================================

A solver reports an upper and a lower bound of the optimum. If the loss-augmented argmax of a loss is wrong, the upper
bound is too low. Sooner or later the lower bound may rise above it, which cannot happen with a correct argmax. The
engine then stops with an error that names the loss. Some mistakes are consistent and never lead to a contradiction.
``check_loss`` finds them, too, because it compares the argmax with a list of all outputs.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.exceptions import CheckError, OracleError
from structsvm.losses import Loss
from structsvm.plots import COLORS, STYLE
from structsvm.solvers import OneSlack
from structsvm.testing import check_loss

plt.style.use(STYLE)


class Ordinal(Loss):
    """Grades 0 to 3; a mistake costs its distance."""

    def joint_feature(self, x, y):
        return np.outer(np.eye(4)[y], x).ravel()

    def loss(self, y, y_hat):
        return float(abs(y - y_hat))

    def argmax(self, x, w):
        return int(np.argmax(w.reshape(4, -1) @ x))

    def loss_augmented_argmax(self, x, y, w):
        return int(np.argmax(w.reshape(4, -1) @ x + np.abs(np.arange(4) - y)))

    def outputs(self, x, y):  # only for check_loss
        return range(4)


class BesidePrediction(Ordinal):
    """A shortcut that tries only the grades next to the prediction."""

    # The check would end the fit before its bounds show the mistake.
    check_before_fit = False

    def loss_augmented_argmax(self, x, y, w):
        scores, predicted = w.reshape(4, -1) @ x, self.argmax(x, w)
        return max((k for k in range(4) if abs(k - predicted) <= 1), key=lambda k: scores[k] + abs(k - y))


class BesideTruth(Ordinal):
    """A shortcut that tries only the grades next to the true grade."""

    check_before_fit = False

    def loss_augmented_argmax(self, x, y, w):
        scores = w.reshape(4, -1) @ x
        return max((k for k in range(4) if abs(k - y) <= 1), key=lambda k: scores[k] + abs(k - y))


rng = np.random.default_rng(0)
ys = rng.integers(0, 4, 200).tolist()
xs = [np.array([1.0, y + rng.normal(), rng.normal()]) for y in ys]


def bounds(loss):
    """Fit; return the bounds of each iteration, and the error or 'converged'."""
    seen, outcome = [], "converged"
    try:
        StructuralSVM(loss, C=50.0, solver=OneSlack(max_iter=60), tol=1e-3).fit(
            xs, ys, callback=lambda step: seen.append((step.primal, step.dual))
        )
    except OracleError as error:
        outcome = str(error)
    return np.array(seen), outcome


# %%
# Left: with the correct argmax, the bounds approach the optimum from both sides.
#
# Middle: this argmax makes different mistakes at different weights. Each cut that it found is valid. Together they
# give a lower bound above its "primal", and the fit ends with an error.
#
# Right: this argmax makes the same mistake everywhere. Its bounds meet below the optimum, so they do not reveal the
# mistake.
#
# Both classes switch off the check before a fit, which would find both mistakes.

found = {loss: bounds(loss()) for loss in (Ordinal, BesidePrediction, BesideTruth)}
optimum = found[Ordinal][0][-1].mean()
titles = ("correct: certified", "next to the prediction: error", "next to the truth: unnoticed")
figure, panels = plt.subplots(1, 3, figsize=(8.0, 3.4), sharey=True, layout="constrained")
for axes, title, (seen, _) in zip(panels, titles, found.values(), strict=True):
    primal, dual = seen.T
    axes.step(range(len(seen)), primal, where="post", label="primal")
    axes.step(range(len(seen)), dual, where="post", linestyle="--", label="dual")
    axes.axhline(optimum, color=COLORS[4], linewidth=0.9, linestyle=":", label="the optimum")
    axes.set(xlabel="iteration", title=title, ylim=(0.0, 130.0))
panels[0].set_ylabel("bounds of the objective")
panels[0].legend()

for loss, (_, outcome) in found.items():
    print(f"{loss.__name__}: {outcome}\n")

# %%
# ``check_loss`` finds both mistakes: it lists all outputs of a few small examples and shows one that is better.

few = list(zip(xs[:8], ys[:8], strict=True))
check_loss(Ordinal(), few)
for loss in (BesidePrediction, BesideTruth):
    try:
        check_loss(loss(), few)
    except CheckError as error:
        print(error, end="\n\n")

# %%
# :doc:`/howto/write_a_loss` shows how to check a custom loss. :doc:`/reliability` describes the guarantees for
# bounds.
