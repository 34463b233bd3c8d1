"""
Why average precision is hard to optimize
=========================================

Average precision changes only at weights that make two documents change places. Elsewhere it is flat, so its gradient
is 0. Along a line through the space of weights, these changes occur at finitely many steps. Weight search (Morgan,
Greiff and Henderson, HLT-NAACL 2004) evaluates all of them and climbs, one weight at a time. A structural SVM
minimizes a convex upper bound instead.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm.metrics import AP
from structsvm.objectives import Hinge
from structsvm.plots import COLORS, STYLE
from structsvm.rankers import WeightSearch

plt.style.use(STYLE)

# %%
# Take one query of eight documents, three of them relevant, and change the second weight by a step t. The score of
# each document is a straight line (upper plot). The ranking changes at the crossings of two lines.
#
# In the lower plot, one minus average precision jumps at some of the crossings and is flat between them. The hinge is
# convex, and an upper bound everywhere. Any descent method finds its minimum, the dot. The minimum is not always in
# the region with the best average precision.

rng = np.random.default_rng(3)
y = np.array([1.0, 1, 1, 0, 0, 0, 0, 0])
X = rng.normal(size=(8, 2)) + 0.5 * y[:, None]
t = np.linspace(-2.0, 3.0, 1501)
heights = X[:, :1] + X[:, 1:] * t
figure, (lines, steps) = plt.subplots(2, 1, figsize=(6.0, 5.0), sharex=True, layout="constrained")
for document, relevant in zip(heights, y, strict=True):
    lines.plot(t, document, "-" if relevant else "--", color=COLORS[0] if relevant else COLORS[4], linewidth=1.0)
lines.plot([], [], "-", color=COLORS[0], label="relevant")
lines.plot([], [], "--", color=COLORS[4], label="not relevant")
lines.set(ylabel="score", title="The score of each document is a line")
lines.legend()

# One query per step, so that one call measures all steps.
at_all = np.repeat(np.arange(len(t)), len(y))
precision = AP().per_query(heights.T.ravel(), np.tile(y, len(t)), at_all).values
bound = Hinge("map", np.tile(y, len(t)), at_all)(heights.T.ravel()).values
steps.plot(t, 1.0 - precision, color=COLORS[0], drawstyle="steps-mid", label="1 − average precision")
steps.plot(t, bound, "--", color=COLORS[1], label="hinge")
steps.plot(t[bound.argmin()], bound.min(), "o", color=COLORS[1])
best = np.flatnonzero(precision == precision.max())
steps.axvspan(t[best[0]], t[best[-1]], color=COLORS[2], alpha=0.15, label="best average precision")
steps.set(xlabel="step t of the second weight", ylabel="loss", ylim=(0.0, 1.6))
steps.legend()

# %%
# The mean over many queries has many small steps, and still has local maxima. Weight search finds the best step along
# each direction exactly.

n = 40
labels = np.tile(y, n)
rows = rng.normal(size=(8 * n, 2)) + 0.4 * labels[:, None]
qid = np.repeat(np.arange(n), 8)
search = WeightSearch(fix_first=True).fit(rows, labels, qid=qid)
few = t[::3]
of_all = (rows[:, :1] + rows[:, 1:] * few).T.ravel()
ids = (qid + n * np.arange(len(few))[:, None]).ravel()
mean = AP().per_query(of_all, np.tile(labels, len(few)), ids).values.reshape(-1, n).mean(axis=1)
figure, axes = plt.subplots(figsize=(6.0, 3.2), layout="constrained")
axes.plot(few, mean, linewidth=1.0, drawstyle="steps-mid", label="MAP of 40 queries")
axes.plot(search.coef_[1], search.map_, "o", color=COLORS[1], label="weight search")
axes.set(xlabel="second weight (the first is 1)", ylabel="mean average precision")
axes.legend()

print(f"weight search: {search.coef_.round(3)}, MAP {search.map_:.4f}; the grid: {mean.max():.4f}")

# %%
# :doc:`/rankers/weight_search` explains the algorithm.
