"""
A wrong argmax is caught by its certificate
===========================================

A solver reports an upper and a lower bound of the optimum. If the loss-augmented argmax of a loss is wrong, the upper
bound is too low, and sooner or later the lower bound may rise above it, which cannot happen with a right argmax. The
engine then stops and names the loss. Some mistakes are consistent with themselves and pass unseen: ``check_loss``,
which compares the argmax with a list of all outputs, finds those too.
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

    def outputs(self, x, y):  # for check_loss alone
        return range(4)


class BesidePrediction(Ordinal):
    """A short cut that looks only at the grades beside the prediction."""

    check_before_fit = False  # which would end the fit before its bounds show anything

    def loss_augmented_argmax(self, x, y, w):
        scores, predicted = w.reshape(4, -1) @ x, self.argmax(x, w)
        return max((k for k in range(4) if abs(k - predicted) <= 1), key=lambda k: scores[k] + abs(k - y))


class BesideTruth(Ordinal):
    """A short cut that looks only at the grades beside the true one."""

    check_before_fit = False

    def loss_augmented_argmax(self, x, y, w):
        scores = w.reshape(4, -1) @ x
        return max((k for k in range(4) if abs(k - y) <= 1), key=lambda k: scores[k] + abs(k - y))


rng = np.random.default_rng(0)
ys = rng.integers(0, 4, 200).tolist()
xs = [np.array([1.0, y + rng.normal(), rng.normal()]) for y in ys]


def bounds(loss):
    """Fit, and return the bounds of each iteration and what was said."""
    seen, said = [], "converged"
    try:
        StructuralSVM(loss, C=50.0, solver=OneSlack(max_iter=60), tol=1e-3).fit(
            xs, ys, callback=lambda step: seen.append((step.primal, step.dual))
        )
    except OracleError as error:
        said = str(error)
    return np.array(seen), said


# %%
# Left: with the right argmax, the bounds close in on the optimum from both sides. Middle: this argmax errs in
# different ways at different weights. The cuts that it found, each of which is valid, add up to a lower bound above
# its "primal", and the fit ends with an error. Right: this argmax errs in the same way everywhere. Its bounds meet
# below the optimum, and nothing in them shows it. Both classes leave out the check before a fit, which finds both.

found = {loss: bounds(loss()) for loss in (Ordinal, BesidePrediction, BesideTruth)}
optimum = found[Ordinal][0][-1].mean()
titles = ("the right one: certified", "beside the prediction: caught", "beside the truth: not seen")
figure, panels = plt.subplots(1, 3, figsize=(8.0, 3.4), sharey=True, layout="constrained")
for axes, title, (seen, _) in zip(panels, titles, found.values(), strict=True):
    primal, dual = seen.T
    axes.step(range(len(seen)), primal, where="post", label="primal")
    axes.step(range(len(seen)), dual, where="post", linestyle="--", label="dual")
    axes.axhline(optimum, color=COLORS[4], linewidth=0.9, linestyle=":", label="the optimum")
    axes.set(xlabel="iteration", title=title, ylim=(0.0, 130.0))
panels[0].set_ylabel("bounds of the objective")
panels[0].legend()

for loss, (_, said) in found.items():
    print(f"{loss.__name__}: {said}\n")

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
# :doc:`/howto/write_a_loss` shows how to check a loss of your own; :doc:`/reliability` says what is promised of
# bounds.
