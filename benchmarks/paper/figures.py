"""The pictures of the page: the paper's Figure 2, and its Tables 9 to 11 beside ours."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
import numpy as np

from benchmarks.paper.printed import BEST, SVM_MAP, TABLES
from structsvm.plots import STYLE
from structsvm.plots.style import BLUE, GRAY, GREEN, INK, PURPLE, VERMILION

COLORS = (GRAY, INK, BLUE, VERMILION, GREEN, PURPLE)
THRESHOLDS, WEIGHTS = (1.0, 2.0, 3.0), (0.5, 0.4, -0.6)
"""Weights of Figure 2, which shows signs but no numbers: the first two are positive, the third is negative."""


def draw(sets: Mapping[str, Mapping[str, Any]], folder: Path) -> None:
    """Write the pictures into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with plt.rc_context(STYLE):
        _bins(folder / "figure_2.svg")
        _models(sets, folder / "models.svg")


def _bins(path: Path) -> None:
    f = np.linspace(0.0, 4.0, 801)
    score = (f[:, None] >= np.array(THRESHOLDS)) @ np.array(WEIGHTS)
    figure, axes = plt.subplots(figsize=(5.0, 2.2), layout="constrained")
    axes.plot(f, score, color=BLUE)
    axes.set(xticks=THRESHOLDS, xticklabels=["a", "b", "c"], xlabel="f(d|x)", ylabel="w·φ(x, d)", yticks=[0.0])
    _save(figure, path)


def _models(sets: Mapping[str, Mapping[str, Any]], path: Path) -> None:
    panels = [(9, "functions", "with-best"), (10, "submissions", "with-best"), (11, "submissions", "without-best")]
    panels = [each for each in panels if any(kept["stands_for"] == each[1] for kept in sets.values())]
    figure, row = plt.subplots(
        1, len(panels), figsize=(3.2 * len(panels), 3.4), sharey=True, squeeze=False, layout="constrained"
    )
    for axes, (number, kind, variant) in zip(row[0], panels, strict=True):
        printed = TABLES[number] | {BEST: TABLES[{9: 6, 10: 7, 11: 8}[number]][BEST]}
        names = [name for name in printed if name != SVM_MAP]
        lines = {
            f"paper, TREC {9 + year}": [printed[name][year].map / printed[SVM_MAP][year].map for name in names]
            for year in (0, 1)
        }
        for kept in sets.values():
            if kept["stands_for"] == kind and variant in kept["rows"]:
                rows = {
                    BEST if each["place"] == 1 else each["name"]: each["map"] for each in kept["rows"][variant]["pool"]
                }
                lines[kept["title"]] = [rows.get(name, np.nan) / rows[SVM_MAP] for name in names]
        for (label, values), color, marker in zip(lines.items(), COLORS, "sDo^vx", strict=False):
            axes.plot(values, range(len(names)), marker, color=color, label=label, markersize=5.0)
        axes.axvline(1.0, color=INK, linewidth=0.8)
        axes.set(yticks=range(len(names)), yticklabels=names, title=f"Table {number}", xlabel="MAP / MAP of SVM-map")
        axes.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
    row[0][0].invert_yaxis()
    _save(figure, path)


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)
