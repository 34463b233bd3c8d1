"""
Labels of a graph: snakes
=========================

A picture shows a snake on a grid. The color of each cell of its body is the direction of the snake's next move. The
label of a cell is its position in the body. Positions far from both ends look alike, so only the whole body
identifies them. Nowozin, Rother, Bagon, Sharp, Yao and Kohli made this data set ("Decision Tree Fields", ICCV 2011).

`GraphHamming` labels all cells together: each cell is a node of a graph, with edges to its neighbors on the grid.
"""

import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from structsvm import StructuralSVM
from structsvm.inference import grid_edges
from structsvm.losses import GraphHamming
from structsvm.plots import COLORS, STYLE

plt.style.use(STYLE)

# %%
# The script uses the original pictures if the variable ``STRUCTSVM_DATA`` names a folder with them. Otherwise it
# draws shorter snakes at random. Color 0 is the background; 1 to 4 are up, right, down and left.

MOVES = np.array([(-1, 0), (0, 1), (1, 0), (0, -1)])
rng = np.random.default_rng(0)


def snake(length=7, size=7):
    while True:
        moves = rng.integers(4, size=length)
        cells = rng.integers(size, size=2) + np.cumsum(MOVES[moves], axis=0) - MOVES[moves]
        if cells.min() >= 0 and cells.max() < size and len(np.unique(cells, axis=0)) == length:
            break
    color, place = np.zeros((2, size, size), dtype=int)
    color[tuple(cells.T)], place[tuple(cells.T)] = moves + 1, np.arange(length) + 1
    return color, place


def original(file, part):
    codes, first = np.load(file), 0
    for height, width in codes[f"{part}_shape"]:
        cells = slice(first, first + height * width)
        color = np.array([0, 2, 4, 1, 0, 0, 3])[codes[f"{part}_colour"][cells]]
        yield color.reshape(height, width), codes[f"{part}_label"][cells].reshape(height, width)
        first += height * width


file = Path(os.environ.get("STRUCTSVM_DATA", ""), "structured", "snakes.npz")
if file.is_file():
    train, test = list(original(file, "train")), list(original(file, "test"))
else:
    train, test = [snake() for _ in range(80)], [snake() for _ in range(40)]

# %%
# The features of a node are the colors of its cell and of the eight cells around it. The features of an edge are the
# features of both ends, in one set of columns for edges that go down and in another for edges that go right. An input
# is a tuple of node features, edges and edge features.


def graph(color):
    height, width = color.shape
    colors = np.pad(np.eye(5)[color], ((1, 1), (1, 1), (0, 0)))
    windows = [colors[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    nodes, edges = np.concatenate(windows, axis=2).reshape(-1, 45), grid_edges(height, width)
    ends = np.hstack((nodes[edges[:, 0]], nodes[edges[:, 1]]))
    down = (edges[:, 1] - edges[:, 0] > 1)[:, np.newaxis]
    return nodes, edges, np.hstack((ends * down, ends * ~down))


def graphs(snakes):
    return [graph(color) for color, _ in snakes], [place.ravel() for _, place in snakes]


(xs, ys), (new_xs, new_ys) = graphs(train), graphs(test)
svm = StructuralSVM(GraphHamming(), C=10.0, tol=0.02).fit(xs, ys)
alone = StructuralSVM("multiclass", C=10.0).fit(np.concatenate([x[0] for x in xs]), np.concatenate(ys))

# %%
# The figure shows three new pictures and the predicted positions. Wrong predictions have a frame.

figure, panels = plt.subplots(3, 3, figsize=(6.0, 6.2), layout="constrained")
for (color, place), x, row in zip(test, new_xs, panels.T, strict=False):
    predictions = {
        "separate cells": np.array(alone.predict(x[0])).reshape(color.shape),
        "as a graph": svm.predict([x])[0].reshape(color.shape),
    }
    row[0].imshow(np.ma.masked_equal(color, 0), cmap="twilight", vmin=0, vmax=5)
    row[0].set(xlabel="colors")
    for axes, (title, found) in zip(row[1:], predictions.items(), strict=True):
        axes.imshow(np.ma.masked_equal(found, 0), cmap="viridis", vmin=-4, vmax=place.max())
        axes.set(xlabel=title)
        for i, j in np.argwhere((found > 0) | (found != place)):
            axes.text(j, i, found[i, j], ha="center", va="center", color="white" if found[i, j] else COLORS[1])
        for i, j in np.argwhere(found != place):
            frame = {"fill": False, "edgecolor": COLORS[1], "linewidth": 2.0}
            axes.add_patch(plt.Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, **frame))
for axes in panels.flat:
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)

right = np.mean(alone.predict(np.concatenate([x[0] for x in new_xs])) == np.concatenate(new_ys))
print(f"right labels: {svm.score(new_xs, new_ys):.3f} as graphs, {right:.3f} as separate cells")

# %%
# The grid has cycles, so inference is approximate. But it also bounds the best score, so both bounds of the objective
# are valid. Part of the gap between them is due to inference alone.

result = svm.result_
gap, part = result.gap / result.C, result.inference_gap / result.C
print(f"{result.status.name}: the gap is {gap:.4f} C, of which inference leaves {part:.4f} C")

# %%
# :doc:`/sequences` explains the model, its options, and how to make inference tighter.
