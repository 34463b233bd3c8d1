"""
Several labels at once: a seven-segment display
===============================================

Each example has seven labels, one for each segment of a digit: lit or not. Separate classifiers for the segments
often predict a set that is not a digit. Weights for pairs of segments correct such mistakes, because only ten of the
128 sets of segments occur.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import accuracy_score, hamming_loss
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import LinearSVC

from structsvm import StructuralSVM
from structsvm.losses import MultiLabelHamming
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# A sensor measures the light of each segment with noise. The segments are top, upper left, upper right, middle, lower
# left, lower right and bottom.

LIT = ["1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111", "1111011"]
SEGMENTS = np.array([list(map(int, digit)) for digit in LIT])
rng = np.random.default_rng(0)


def displays(n):
    y = SEGMENTS[rng.integers(10, size=n)]
    return y + rng.normal(scale=0.4, size=(n, 7)), y


(X, y), (new_X, new_y) = displays(500), displays(500)

# %%
# Compare scikit-learn's classifier for each label with three structural SVMs: without pairs, with weights for a tree
# of pairs, and with weights for all pairs. ``y`` is an indicator matrix with a column for each label.

found = {"separately": OneVsRestClassifier(LinearSVC()).fit(X, y).predict(new_X)}
models = {}
for edges in ("none", "tree", "complete"):
    models[edges] = StructuralSVM(MultiLabelHamming(edges), C=100.0, fit_intercept=True).fit(X, y)
    found[f'edges="{edges}"'] = models[edges].predict(new_X)
for name, labels in found.items():
    print(f"{name:16} wrong labels: {hamming_loss(new_y, labels):.3f}, all right: {accuracy_score(new_y, labels):.3f}")

# %%
# The next figure has displays that separate classifiers misread: the light, and the segments that each model
# predicts.

ENDS = [
    ((0, 2), (1, 2)),
    ((0, 1), (0, 2)),
    ((1, 1), (1, 2)),
    ((0, 1), (1, 1)),
    ((0, 0), (0, 1)),
    ((1, 0), (1, 1)),
    ((0, 0), (1, 0)),
]


def draw(axes, light, color):
    for ends, strength in zip(ENDS, light, strict=True):
        alpha = min(max(float(strength), 0.03), 1.0)
        axes.plot(*zip(*ends, strict=True), color=color, alpha=alpha, linewidth=5.0, solid_capstyle="round")
    axes.set(xlim=(-0.4, 1.4), ylim=(-0.3, 2.3), aspect="equal", xticks=[], yticks=[])
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)


misread = np.flatnonzero((found["separately"] != new_y).any(axis=1))[:8]
rows = {"light": new_X, "separately": found["separately"], "all pairs": found['edges="complete"'], "truth": new_y}
figure, grid = plt.subplots(4, 8, figsize=(7.0, 5.0), layout="constrained")
for (name, shown), line, color in zip(rows.items(), grid, COLORS, strict=False):
    line[0].set_ylabel(name)
    for axes, i in zip(line, misread, strict=True):
        draw(axes, shown[i], color)

# %%
# The last figure shows the learned weights of pairs: the change in the score of a lit segment if another segment is
# lit as well.

model = models["complete"]
tables = model.coef_[-4 * 21 :].reshape(21, 2, 2)
attraction = np.zeros((7, 7))
for (one, other), table in zip(np.argwhere(np.triu(np.ones((7, 7)), 1)), tables, strict=True):
    attraction[one, other] = attraction[other, one] = table[1, 1] + table[0, 0] - table[0, 1] - table[1, 0]
names = ["top", "upper left", "upper right", "middle", "lower left", "lower right", "bottom"]
figure, axes = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
limit = np.abs(attraction).max()
picture = axes.imshow(attraction, cmap="RdBu", vmin=-limit, vmax=limit)
axes.set_xticks(range(7), labels=names, rotation=40, ha="right")
axes.set_yticks(range(7), labels=names)
axes.set(title="Weights of pairs of segments")
axes.grid(visible=False)
figure.colorbar(picture, label="attraction")

# %%
# :doc:`/multilabel` explains the model and its options.
