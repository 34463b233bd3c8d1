"""
Latent variables: find an unmarked pattern
==========================================

Some series contain a pattern. A label says whether a series contains it, but neither its position nor its shape. The
position is a *latent variable*. Training alternates between two steps: it guesses the positions with the current
weights, and it trains a structural SVM that treats these positions as known (Yu and Joachims, ICML 2009).
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm.estimators import LatentStructuralSVM
from structsvm.losses import LatentLoss
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)
# sphinx_gallery_thumbnail_number = 2

WIDTH, PATTERN = 6, np.array([1.0, -1.5, 1.5, -1.5, 1.5, -1.0])


class Detector(LatentLoss):
    """y is 1 if the series contains the pattern, else 0; h is the start of the pattern."""

    def windows(self, x):
        return np.lib.stride_tricks.sliding_window_view(x, WIDTH)

    def joint_feature(self, x, y, h):
        return np.append(self.windows(x)[h], 1.0) if y else np.zeros(WIDTH + 1)

    def loss(self, y, y_hat, h_hat):
        return float(y != y_hat)

    def initial(self, x, y):  # the window with the largest variance
        return int(np.argmax(self.windows(x).var(axis=1))) if y else 0

    def complete(self, x, y, w):
        return int(np.argmax(self.windows(x) @ w[:-1])) if y else 0

    def argmax(self, x, w):
        values = self.windows(x) @ w[:-1] + w[-1]
        h = int(np.argmax(values))
        return (1, h) if values[h] > 0.0 else (0, 0)

    def loss_augmented_argmax(self, x, y, w):
        values = self.windows(x) @ w[:-1] + w[-1]
        h = int(np.argmax(values))
        return (1, h) if values[h] + (y == 0) > (y == 1) else (0, 0)


def series(n, seed):
    rng = np.random.default_rng(seed)
    xs = 0.5 * rng.standard_normal((n, 30))
    begins = rng.integers(0, 30 - WIDTH, n)
    for i in range(1, n, 2):
        xs[i, begins[i] : begins[i] + WIDTH] += PATTERN
    return list(xs), [i % 2 for i in range(n)], begins


xs, ys, begins = series(100, seed=2)
svm = LatentStructuralSVM(Detector(), C=100.0).fit(xs, ys)

# %%
# The objective never rises from round to round (left), and the weights take the shape of the pattern (right).
# Training stops when the positions no longer change. The result need not be a global optimum: another first guess may
# lead to another result.

figure, (falls, learned) = plt.subplots(1, 2, figsize=(7.0, 3.2), layout="constrained")
falls.plot(range(1, len(svm.rounds_) + 1), [each.objective for each in svm.rounds_], marker="o")
falls.set(xlabel="round", ylabel="objective at its start", title="It never rises")
falls.xaxis.get_major_locator().set_params(integer=True)
learned.plot(PATTERN / np.abs(PATTERN).max(), "o--", color=COLORS[4], label="pattern")
weights = svm.coef_[:WIDTH]
learned.plot(weights / np.abs(weights).max(), "s-", color=COLORS[0], label="weights")
learned.set(xlabel="place in the window", ylabel="over the largest", title="The weights are the pattern")
learned.set_ylim(-1.2, 1.6)
learned.legend(ncols=2, loc="upper center")

# %%
# On new series, the detector also finds the position of the pattern.

new_xs, new_ys, new_begins = series(200, seed=3)
figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
for row, i in enumerate((1, 3, 5, 7)):
    found, h = svm.predict_latent(new_xs[i : i + 1])[0]
    axes.plot(new_xs[i] - 5.0 * row, color=COLORS[4], linewidth=0.9)
    if found:
        place = range(h, h + WIDTH)
        axes.plot(place, new_xs[i][h : h + WIDTH] - 5.0 * row, color=COLORS[1], linewidth=2.0)
    axes.plot(new_begins[i], 2.2 - 5.0 * row, "v", color=COLORS[0])
axes.plot([], [], color=COLORS[1], label="found")
axes.plot([], [], "v", color=COLORS[0], label="begins here in truth")
axes.set(xlabel="time", yticks=[], title="Four new series")
figure.legend(loc="outside lower center", ncols=2)

print(f"right on new series: {svm.score(new_xs, new_ys):.2f}, after {len(svm.rounds_)} rounds")

# %%
# :doc:`/howto/latent_variables` explains the objective, the check of a latent loss, and common mistakes.
