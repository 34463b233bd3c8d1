"""
A loss from scratch
===================

A loss is a joint feature map, a Δ, and two argmaxes; the engine does the rest, with a certificate. Here labels are
ordered, as grades of one to five stars are, and a mistake costs its distance. The classifier that knows so is compared
with one for which all mistakes are the same.
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
# Reviews of which the grade shows through noise. ``check_loss`` compares both argmaxes with lists of all outputs: a
# certificate is worth what the argmax is worth.

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
# Both are right about as often, and where the first is wrong it is less wrong: it has given up grades far from the
# diagonal for those next to it.

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
# The certificate is the same for a loss of one's own as for the library's.

display = ConvergenceDisplay.from_estimator(svms["distance"], x="iterations", y="bounds")
display.ax_.set_title("A loss in sixteen lines, and its bounds")

# %%
# :doc:`/howto/write_a_loss` goes on: losses of scores alone, compiled ones, and losses of rankings in four lines.
