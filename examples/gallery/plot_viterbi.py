"""
Label sequences: the Viterbi algorithm
======================================

An output need not be a ranking. In this example it is a label for each position of a sequence. Its score depends on
the observation at each position and on each pair of successive labels. Viterbi's algorithm finds the best of all
:math:`K^T` outputs, and the output that violates its constraint most.
"""

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.losses import ChainHamming
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# A machine is idle, warms up, works and cools down, in this order. A sensor measures its heat with noise, so that
# warming up and cooling down look alike.

STATES = np.array(["idle", "warming", "working", "cooling"])
HEAT = np.array([0.0, 0.5, 1.0, 0.5])
rng = np.random.default_rng(0)


def days(n):
    xs, ys = [], []
    for _ in range(n):
        state = (rng.integers(4) + np.cumsum(rng.random(60) < 0.15)) % 4
        heat = HEAT[state] + rng.normal(scale=0.2, size=60)
        xs.append(np.column_stack([np.ones(60), heat, heat**2]))
        ys.append(STATES[state].tolist())
    return xs, ys


(xs, ys), (new_xs, new_ys) = days(60), days(60)
svm = StructuralSVM(ChainHamming(), C=100.0).fit(xs, ys)
alone = StructuralSVM("multiclass", C=100.0).fit(np.concatenate(xs), np.concatenate(ys))

# %%
# One day of a new machine: with separate labels for each position, predictions flicker between the two states of
# equal heat. Labeled as a sequence, they come in the right order.

x, y = new_xs[0], np.array(new_ys[0])
rows = {"the truth": y, "as a sequence": np.array(svm.predict([x])[0]), "separately": np.array(alone.predict(x))}
figure, (seen, labels) = plt.subplots(
    2, 1, figsize=(6.0, 4.0), sharex=True, height_ratios=(1.0, 1.1), layout="constrained"
)
seen.plot(x[:, 1], "o", color=COLORS[4], markersize=3)
seen.set(ylabel="heat")
hatches = ("", "//", "", "\\\\")
for place, given in enumerate(rows.values()):
    for state, color, hatch in zip(STATES, COLORS, hatches, strict=False):
        at = np.flatnonzero(given == state)
        labels.bar(
            at,
            np.full(len(at), 0.8),
            1.0,
            place - 0.4,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.0,
            label=state if place == 0 else None,
        )
labels.set_yticks(range(3), labels=list(rows))
labels.invert_yaxis()
labels.grid(visible=False)
labels.set(xlabel="time")
labels.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))

# %%
# The next plot shows the learned order: the weight of each step from one state to the next. The steps that occur in
# the data have the largest weights.

in_turn = [list(svm.loss_.states).index(state) for state in STATES]
steps = svm.coef_[4 * 3 :].reshape(4, 4)[np.ix_(in_turn, in_turn)]
figure, axes = plt.subplots(figsize=(5.0, 3.8), layout="constrained")
limit = np.abs(steps).max()
picture = axes.imshow(steps, cmap="RdBu", vmin=-limit, vmax=limit)
axes.set_xticks(range(4), labels=STATES)
axes.set_yticks(range(4), labels=STATES)
axes.set(xlabel="next state", ylabel="state", title="Weights of steps")
axes.grid(visible=False)
figure.colorbar(picture, label="weight")

share = np.mean([np.mean(np.array(alone.predict(x)) == y) for x, y in zip(new_xs, new_ys, strict=True)])
print(f"right labels: {svm.score(new_xs, new_ys):.3f} as sequences, {share:.3f} separately")

# %%
# :doc:`/sequences` explains the model, and the guarantees that remain if the argmax is not exact.
