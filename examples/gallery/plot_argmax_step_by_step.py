"""
The most violated ranking, step by step
=======================================

To train for average precision, a solver repeatedly needs the ranking with the largest sum of loss and score, out of
n! rankings. Yue et al. (SIGIR 2007) found a greedy algorithm that is exact. This page follows it in two steps, like
their Figure 1: the gain from letting one document pass another, and the ranking that follows from these gains.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm.losses import AveragePrecision
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# Take a query with four relevant and seven non-relevant documents, and their scores. Within each kind, the most
# violated ranking is sorted by score (Observation 1 of the paper). It remains to decide, for each non-relevant
# document, how many relevant documents rank above it.

y = np.array([1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0], dtype=float)
scores = np.array([2.4, 2.1, 1.5, 1.45, 1.1, 0.9, 0.8, 0.2, -0.2, -0.5, -1.0])
s, other = np.sort(scores[y == 1])[::-1], np.sort(scores[y == 0])[::-1]
R, N = len(s), len(other)

# %%
# When the j-th best non-relevant document passes the k-th relevant document, two things happen. The loss rises, by
# less the deeper both documents are. The score falls in proportion to the difference of their scores. The gain is
#
# .. math:: \frac1R \left[\frac{j}{j+k} - \frac{j-1}{j+k-1}\right] - \frac{2 (s_k - \bar s_j)}{RN}.
#
# Passing all relevant documents from the i-th on gains the sum of these terms. The paper's equation (5) leaves out
# the factor 1/(RN).

k, j = np.arange(1, R + 1)[:, None], np.arange(1, N + 1)
step = (j / (j + k) - (j - 1) / (j + k - 1)) / R - 2.0 * (s[:, None] - other) / (R * N)
gain = np.vstack([np.cumsum(step[::-1], axis=0)[::-1], np.zeros(N)])  # row i - 1: all from the i-th on are passed
best = R - np.argmax(gain[::-1], axis=0)  # number of relevant documents that stay ahead of the j-th

figure, axes = plt.subplots(figsize=(6.0, 3.6), layout="constrained")
for number in (1, 2, 3, 5, 7):
    line = axes.plot(range(R + 1), gain[:, number - 1], marker="o", label=f"j = {number}")[0]
    axes.plot(
        best[number - 1],
        gain[best[number - 1], number - 1],
        "o",
        markersize=10,
        fillstyle="none",
        color=line.get_color(),
    )
axes.set(
    xlabel="relevant documents that stay ahead",
    ylabel="gain of Δ + w·Ψ",
    xticks=range(R + 1),
    title="Each non-relevant document takes its own best place (circled)",
)
axes.legend(title="non-relevant", ncols=2)

# %%
# The best places never move up as j grows (Theorem 2). So each document can choose its place independently, and the
# choices form one ranking. From left to right, the plot shows the ranking by score, the most violated ranking, and
# the true ranking.

loss = AveragePrecision()
worst = loss.loss_augmented_argmax(scores, y)
figure, axes = plt.subplots(figsize=(6.0, 3.8), layout="constrained")
columns = {"by score": scores, "most violated": worst, "the truth": y + 1e-3 * scores}
ranks = np.array([np.argsort(np.argsort(-values)) + 1 for values in columns.values()])
for document in range(len(y)):
    color, dashes = (COLORS[0], "-") if y[document] else (COLORS[1], "--")
    axes.plot(range(3), ranks[:, document], dashes, color=color, marker="o", linewidth=1.0, markersize=9)
    axes.text(0, ranks[0, document], document + 1, ha="center", va="center", color="white", fontsize=7)
axes.plot([], [], "-o", color=COLORS[0], label="relevant")
axes.plot([], [], "--o", color=COLORS[1], label="not relevant")
heads = [
    f"{name}\nΔ = {loss.loss(y, values):.3f}, w·Ψ = {scores @ loss.encode(values, y):+.3f}"
    for name, values in columns.items()
]
axes.set_xticks(range(3), labels=heads)
axes.set(ylabel="rank", xlim=(-0.3, 2.3))
axes.invert_yaxis()
axes.grid(visible=False)
figure.legend(loc="outside upper right", ncols=2)

# %%
# As a check, compare with all 11! / (4! 7!) = 330 rankings that keep the order within each kind: no ranking has a
# larger value.

from itertools import combinations


def value(ranking):
    return loss.loss(y, ranking) + scores @ loss.encode(ranking, y)


def ranking_of(places):
    ranking, order = np.empty(R + N), np.argsort(-scores)
    ranking[order[y[order] == 1]] = -np.array(places)
    ranking[order[y[order] == 0]] = -np.setdiff1d(range(R + N), places)
    return ranking


values = [value(ranking_of(places)) for places in combinations(range(R + N), R)]
print(len(values), np.isclose(max(values), value(worst)))

# %%
# The library sorts once and finds all places by bisection, in O(n log n) compiled steps: see :doc:`/losses`.
