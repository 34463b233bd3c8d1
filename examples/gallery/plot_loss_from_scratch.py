"""
Write a custom loss from scratch
================================

A loss consists of a joint feature map, a Δ and two argmaxes. The engine does the rest, and proves how close the
result is to the optimum. In this example labels are ordered, like grades from zero to four stars, and the cost of a
mistake is its distance from the truth. We compare the model with one that treats all mistakes alike.
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
    """Δ is the distance of two grades, divided by the largest; each grade has its own weights."""

    def joint_feature(self, x, y):
        return np.outer(np.eye(len(STARS))[y], x).ravel()

    def loss(self, y, y_hat):
        return abs(y - y_hat) / (len(STARS) - 1)

    def argmax(self, x, w):
        return int(np.argmax(w.reshape(len(STARS), -1) @ x))

    def loss_augmented_argmax(self, x, y, w):
        return int(np.argmax(w.reshape(len(STARS), -1) @ x + np.abs(STARS - y) / (len(STARS) - 1)))

    def outputs(self, x, y):  # only for check_loss
        return STARS.tolist()


# %%
# The data are reviews with noisy observations of their grades. ``check_loss`` compares both argmaxes with lists of
# all outputs. Run it on every new loss, because the certificate relies on the argmax.

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
# Each row shows the predictions for one true grade. The model that uses distances (left) makes fewer mistakes far
# from the diagonal and more mistakes beside it: its mean distance from the truth is smaller.

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
# A custom loss gets the same certificate as the built-in losses.

display = ConvergenceDisplay.from_estimator(svms["distance"], x="iterations", y="bounds")
display.ax_.set_title("A loss in sixteen lines, and its bounds")

# %%
# :doc:`/howto/write_a_loss` shows more: ranking losses in four lines, losses on scores, and compiled losses.
