"""
Train a neural ranker for average precision
===========================================

The hinge of a structural SVM is a function of scores and has a gradient. So you can train any model on it that
gradients can train. This example trains a network, written in a few lines of NumPy, on the hinge of average
precision. ``structsvm.objectives.for_torch.TorchHinge`` is the same hinge as a PyTorch module.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import Ranker
from structsvm.metrics import AP
from structsvm.objectives import Hinge
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# A document is relevant if both of its features are large, or both are small. No linear model can express this.


def queries(number, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((25 * number, 2))
    return X, (X[:, 0] * X[:, 1] > 0.8).astype(float), np.repeat(np.arange(number), 25)


(X, y, qid), (new_X, new_y, new_qid) = queries(60, seed=0), queries(100, seed=1)
hinge = Hinge("map", y, qid)
rng = np.random.default_rng(0)
layers = [rng.normal(size=(2, 24)), np.zeros(24), 0.2 * rng.normal(size=24)]


def network(rows):
    return np.maximum(rows @ layers[0] + layers[1], 0.0) @ layers[2]


# %%
# ``hinge(scores)`` finds the most violated ranking of every query. Its gradient has one number for each document,
# which is all that back-propagation needs.

means, reached = [], []
for _ in range(250):
    hidden = np.maximum(X @ layers[0] + layers[1], 0.0)
    found = hinge(hidden @ layers[2])
    means.append(found.values.mean())
    reached.append(
        [1.0 - AP().mean(network(each), labels, ids) for each, labels, ids in ((X, y, qid), (new_X, new_y, new_qid))]
    )
    slope = found.gradient / len(hinge)
    back = np.outer(slope, layers[2]) * (hidden > 0.0)
    for layer, gradient in zip(layers, (X.T @ back, back.sum(axis=0), hidden.T @ slope), strict=True):
        layer -= 0.5 * gradient

linear = Ranker(loss="map", C=10.0).fit(X, y, qid=qid)

# %%
# The mean hinge is an upper bound of one minus MAP at every step (left). The network has learned both corners
# (right); the linear ranker cannot.

figure, (descent, plane) = plt.subplots(1, 2, figsize=(8.0, 3.4), layout="constrained")
descent.plot(means, label="mean hinge, training")
descent.plot(np.array(reached)[:, 0], "--", label="1 − MAP, training")
descent.plot(np.array(reached)[:, 1], ":", label="1 − MAP, new queries")
descent.axhline(1.0 - linear.score(new_X, new_y, qid=new_qid), color=COLORS[4], linewidth=0.9)
descent.text(250, 1.0 - linear.score(new_X, new_y, qid=new_qid), "a linear ranker", ha="right", va="bottom", fontsize=8)
descent.set(xlabel="step", ylabel="loss", ylim=(0.0, 1.2))
descent.legend()

axis = np.linspace(-2.5, 2.5, 101)
grid = np.array([[a, b] for b in axis for a in axis])
levels = plane.contourf(axis, axis, network(grid).reshape(101, 101), 14, cmap="Blues")
some = slice(0, 250)
for kind, marker, color in ((0.0, "x", COLORS[4]), (1.0, "o", COLORS[1])):
    rows = X[some][y[some] == kind]
    plane.plot(*rows.T, marker, color=color, markersize=3.5, label="relevant" if kind else "not relevant")
plane.set(
    xlabel="first feature", ylabel="second feature", title="Scores of the network", xlim=(-2.5, 2.5), ylim=(-2.5, 2.5)
)
plane.legend(loc="lower left", facecolor="white", frameon=True, framealpha=0.8)
figure.colorbar(levels, label="score")

print(f"MAP on new queries: network {1.0 - reached[-1][1]:.2f}, linear {linear.score(new_X, new_y, qid=new_qid):.2f}")

# %%
# :doc:`/howto/train_a_neural_ranker` shows the same with PyTorch and JAX, in batches.
