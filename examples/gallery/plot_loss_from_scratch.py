"""
A loss of your own, from scratch
================================

A loss is a joint feature map, a Δ and two argmaxes; the engine does the rest, and proves how close the result is to
the optimum. Here labels are ordered, like grades from zero to four stars, and a mistake costs its distance. We
compare the model with one for which all mistakes are the same.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.losses import Loss
from structsvm.plots import STYLE, ConvergenceDisplay
from structsvm.testing import check_loss

plt.style.use(STYLE)
STARS = np.arange(5)


class Distance(Loss):
    """Δ is the distance of two grades, over the largest; each grade has weights of its own."""

    def joint_feature(self, x, y):
        return np.outer(np.eye(len(STARS))[y], x).ravel()

    def loss(self, y, y_hat):
        return abs(y - y_hat) / (len(STARS) - 1)

    def argmax(self, x, w):
        return int(np.argmax(w.reshape(len(STARS), -1) @ x))

    def loss_augmented_argmax(self, x, y, w):
        return int(np.argmax(w.reshape(len(STARS), -1) @ x + np.abs(STARS - y) / (len(STARS) - 1)))

    def outputs(self, x, y):  # for check_loss alone
        return STARS.tolist()


# %%
# The data are reviews whose grade is seen through noise. ``check_loss`` compares both argmaxes with lists of all
# outputs; run it on every new loss, as a certificate relies on the argmax.

rng = np.random.default_rng(1)


def reviews(n):
    stars = rng.integers(0, 5, n)
    seen = stars + rng.normal(scale=1.2, size=n)
    return [np.array([1.0, value, value**2 / 4.0]) for value in seen], stars.tolist()


(xs, ys), (new_xs, new_ys) = reviews(300), reviews(1000)
check_loss(Distance(), list(zip(xs[:6], ys[:6], strict=True)))
svms = {
    "distance": StructuralSVM(Distance(), C=300.0, tol=0.01).fit(xs, ys),
    "all the same": StructuralSVM("multiclass", C=300.0, tol=0.01).fit(np.array(xs), ys),
}

# %%
# Each row shows how one true grade is predicted. The model that knows the distance (left) makes fewer mistakes far
# from the diagonal and more beside it: its mean distance from the truth is smaller.

figure, panels = plt.subplots(1, 2, figsize=(7.0, 3.4), sharey=True, layout="constrained")
for axes, (name, svm) in zip(panels, svms.items(), strict=True):
    given = np.array([int(each) for each in svm.predict(new_xs)])
    share = np.array([[np.mean(given[np.array(new_ys) == y] == other) for other in STARS] for y in STARS])
    axes.imshow(share, cmap="Blues", vmin=0.0, vmax=0.8)
    for (row, column), value in np.ndenumerate(share):
        axes.text(column, row, f"{value:.2f}", ha="center", va="center", color="white" if value > 0.45 else "black")
    mistake = np.abs(given - new_ys).mean()
    axes.set(
        xticks=STARS, yticks=STARS, xlabel="predicted stars", title=f"Δ: {name}\nmean distance {mistake:.2f} stars"
    )
    axes.grid(visible=False)
panels[0].set_ylabel("true stars")

# %%
# A loss of your own gets the same certificate as those of the library.

display = ConvergenceDisplay.from_estimator(svms["distance"], x="iterations", y="bounds")
display.ax_.set_title("A loss in sixteen lines, and its bounds")

# %%
# :doc:`/howto/write_a_loss` goes on: losses of rankings in four lines, losses that only see scores, and compiled
# ones.
