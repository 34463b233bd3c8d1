"""
A matching of points in two pictures
====================================

A picture shows ten points, and a second one shows them moved, with noise. Which points are the same? The output is an
assignment: every point has one partner. `PartHamming` over `Assignment` learns the weights of features of pairs.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.inference.sets import Assignment
from structsvm.losses import PartHamming
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# A pair has three features: the squared distances of positions, shapes and colors. Colors are mostly noise.
POINTS = 10
matchings, rng = Assignment(POINTS, POINTS), np.random.default_rng(0)


def pictures(n):
    for _ in range(n):
        first = rng.uniform(size=(POINTS, 6))
        partner = rng.permutation(POINTS)
        second = np.empty_like(first)
        second[partner] = first + rng.normal(size=first.shape) * [0.15, 0.15, 0.3, 0.3, 2.0, 2.0]
        squares = (first[:, None] - second[None]) ** 2
        features = squares.reshape(POINTS, POINTS, 3, 2).sum(axis=3).reshape(-1, 3)
        yield first, second, features, np.eye(POINTS)[partner].ravel()


train, test = list(pictures(50)), list(pictures(200))
model = StructuralSVM(PartHamming(matchings, average=False), C=10.0)
model.fit([x for *_, x, _ in train], [y for *_, y in train])
print("weights of position, shape and color:", model.coef_.round(2))
alike = {"equal weights": [matchings.maximize(-x.sum(axis=1)) for *_, x, _ in test]}
answers = alike | {"learned weights": model.predict([x for *_, x, _ in test])}
for name, outputs in answers.items():
    right = np.mean([y @ output for (*_, y), output in zip(test, outputs, strict=True)]) / POINTS
    print(f"{name}: {right:.3f} of the pairs are right")

# %%
# Lines join the points of one new pair of pictures; wrong lines are orange.

figure, panels = plt.subplots(1, 2, figsize=(7.0, 3.4), layout="constrained")
first, second, _, truth = test[0]
for axes, (name, outputs) in zip(panels, answers.items(), strict=True):
    for part in np.flatnonzero(outputs[0]):
        ends = np.stack((first[part // POINTS, :2], second[part % POINTS, :2] + [1.5, 0.0]))
        axes.plot(*ends.T, color=COLORS[0 if truth[part] else 1], linewidth=1.0 if truth[part] else 2.0)
    axes.plot(*first[:, :2].T, "o", color=COLORS[4])
    axes.plot(*(second[:, :2] + [1.5, 0.0]).T, "s", color=COLORS[4])
    axes.set(xlabel=name, xticks=[], yticks=[])

# %%
# :doc:`/howto/declare_outputs` has ten more kinds of outputs in three lines each.
