"""
Certificates at work: a wrong argmax is caught
==============================================

Every plane that a solver collects is a lower bound of the objective, and the hinge at the best weights an upper one. If
the argmax of a loss is wrong, the hinge is too small, and one day the dual passes the primal: which cannot be. The
engine says so, and names the loss. Where a wrong argmax is consistent with itself, bounds may meet without that, and only
``check_loss`` finds it.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.exceptions import CheckError, OracleError
from structsvm.losses import Loss
from structsvm.plots import COLOURS, STYLE
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


class Hasty(Ordinal):
    """It looks at neighbouring grades only, as someone might who wants to save time."""

    def loss_augmented_argmax(self, x, y, w):
        near = [grade for grade in range(4) if abs(grade - y) <= 1]
        scores = w.reshape(4, -1) @ x
        return max(near, key=lambda grade: scores[grade] + abs(grade - y))


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
# Left, the right argmax: the bounds close in on the optimum from both sides. Right, the hasty one, whose "primal" is too
# low. The dashed line is the true objective at the same optimum.

found = {loss: bounds(loss()) for loss in (Ordinal, Hasty)}
true_optimum = found[Ordinal][0][-1].mean()
figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.4), sharey=True, layout="constrained")
for axes, (loss, (seen, said)) in zip(panels, found.items(), strict=True):
    primal, dual = seen.T
    axes.step(range(len(seen)), primal, where="post", label="primal")
    axes.step(range(len(seen)), dual, where="post", linestyle="--", color=COLOURS[1], label="dual")
    axes.axhline(true_optimum, color=COLOURS[4], linewidth=0.9, linestyle=":", label="the optimum")
    axes.set(xlabel="iteration", title=f"{loss.__name__}: {said.split(':')[0][:46]}")
panels[0].set_ylabel("bounds of the objective")
panels[0].legend()

print(found[Hasty][1])

# %%
# ``check_loss`` needs no luck: it lists the outputs of a few small examples and finds a better one.

check_loss(Ordinal(), list(zip(xs[:8], ys[:8], strict=True)))
try:
    check_loss(Hasty(), list(zip(xs[:8], ys[:8], strict=True)))
except CheckError as error:
    print(str(error))

# %%
# :doc:`/reliability` says what is promised of bounds, and :doc:`/howto/write_a_loss` how to check a loss.
