"""
Decisions by predicted costs: shortest paths
============================================

A courier crosses a grid every day. The costs of its edges depend on five features of the day. Without a model, the
courier takes the path that is cheapest on average. `Regret` learns to predict costs whose shortest path is cheap: it
trains for the decision, by the hinge SPO+ (Elmachtoub and Grigas, Management Science 2022).
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.collections import LineCollection

from structsvm import StructuralSVM
from structsvm.inference.sets import DirectedPath
from structsvm.losses import Regret
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# The data follow the formula of PyEPO's tutorial: costs are a polynomial of the features, times noise.

grid = DirectedPath.grid(5, 5)
rng = np.random.default_rng(0)
B = rng.binomial(1, 0.5, (grid.size, 5))


def days(n):
    X = rng.standard_normal((n, 5))
    costs = ((X @ B.T / np.sqrt(5) + 3) ** 6 + 1) / 3.5**6
    return X, costs * rng.uniform(0.5, 1.5, costs.shape)


(X, costs), (new_X, new_costs) = days(200), days(1000)
loss = Regret(grid)
model = StructuralSVM(loss, C=10.0, fit_intercept=True).fit(X, costs)
paths = {
    "before learning": np.tile(grid.maximize(-costs.mean(axis=0)), (1000, 1)),
    "after learning": np.array(model.predict(new_X)),
    "the best path": np.array([grid.maximize(-c) for c in new_costs]),
}
for name, chosen in paths.items():
    print(f"{name}: regret {loss.relative(new_costs, chosen):.3f}")

# %%
# One of the new days: dark edges are expensive, and the path is orange.

places = np.stack(np.divmod(np.arange(25), 5), axis=1)[:, ::-1]
lines, darkness = places[np.array(grid.edges)], np.log(new_costs[3])
figure, panels = plt.subplots(1, 3, figsize=(7.5, 2.9), layout="constrained")
for axes, (name, chosen) in zip(panels, paths.items(), strict=True):
    axes.add_collection(LineCollection(lines[chosen[3] > 0], colors=COLORS[1], linewidths=9.0, alpha=0.5))
    axes.add_collection(LineCollection(lines, array=darkness, cmap="Greys", clim=(-2.0, 3.0), linewidths=3.0))
    axes.plot(*places.T, "o", color=COLORS[0], markersize=4)
    axes.set(xlabel=f"{name}: cost {new_costs[3] @ chosen[3]:.2f}", xticks=[], yticks=[], aspect="equal")
    axes.invert_yaxis()

# %%
# :doc:`/howto/predict_then_optimize` explains the loss, and compares it with least squares.
