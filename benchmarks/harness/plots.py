"""Draw the plots of the page and of the notes."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")

import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from benchmarks.harness.rows import Row, Target
from benchmarks.harness.store import load
from structsvm.plots import STYLE, ConvergenceDisplay
from structsvm.plots.style import BLUE, GRAY, INK, VERMILION

LOOKS = {"FrankWolfe": BLUE, "OneSlack": VERMILION, "dlib": GRAY}


def draw(rows: dict[str, list[Row]], root: Path) -> None:
    """Draw each plot whose rows are there; `rows` is by benchmark."""
    notes = root / "benchmarks" / "notes"
    with plt.rc_context(STYLE):
        if found := rows.get("average_precision"):
            _proofs(found, root / "docs" / "_static" / "proved.svg")
            _gaps(found, notes / "gap.svg")
            _passes(found, notes / "passes.svg")
        peaks = [target for name in ("web30k", "sparse") if name in rows for target in load(name).targets(rows[name])]
        peaks = [target for target in peaks if target.unit == "MB" and target.reached is not None]
        if peaks:
            _memory(peaks, notes / "memory.svg")


def _look(who: str) -> dict[str, str]:
    """Return the color and the dashes of the system of a row."""
    name = who.partition("(")[0].partition(",")[0]
    return {"color": LOOKS.get(name, INK), "linestyle": "--" if "query by query" in who else "-"}


def _plotted(rows: list[Row], C: float) -> list[Row]:
    return [row for row in rows if row.history and row.C == C and not row.who.startswith("auto")]


def _gaps(rows: list[Row], path: Path) -> None:
    figure, panels = plt.subplots(1, 2, figsize=(8.0, 3.2), sharey=True, layout="constrained")
    for axes, C in zip(panels, (100.0, 1000.0), strict=True):
        shown = _plotted(rows, C)
        lowest = max((row.history[-1][1] - row.values["gap"] * C for row in shown), default=0.0)
        curves = {
            row.who: ([max(one, 1e-3) for one, _ in row.history], [max((p - lowest) / C, 1e-5) for _, p in row.history])
            for row in shown
        }
        display = ConvergenceDisplay(curves, y="excess", tol=1e-3).plot(axes)
        for who, line in zip(curves, display.lines_, strict=True):
            line.set(**_look(who))
        axes.set(ylabel="", title=f"MAP on m, C = {C:g}")
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    panels[0].set_ylabel("(primal − best lower bound) / C")
    panels[1].legend()
    _save(figure, path)


def _proofs(rows: list[Row], path: Path) -> None:
    """Draw a small plot with names at the lines, which is readable on phones."""
    figure, axes = plt.subplots(figsize=(5.0, 2.9), layout="constrained")
    _against_C(axes, rows, "seconds")
    axes.get_legend().remove()
    for line in axes.lines:
        x, y = line.get_xydata()[-1]
        axes.annotate(line.get_label(), (x, y), (6, 0), textcoords="offset points", va="center", color=line.get_color())
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter("{x:,.5g}")
    axes.minorticks_off()
    axes.set_title("Seconds until the gap is proved, 100,000 documents", loc="left")
    _save(figure, path)


def _passes(rows: list[Row], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(4.5, 3.0), layout="constrained")
    _against_C(axes, rows, "passes")
    axes.set(ylabel="passes", title="MAP on m")
    _save(figure, path)


def _against_C(axes: Axes, rows: list[Row], value: str) -> None:
    names = [name for name in dict.fromkeys(row.who for row in rows if row.history) if not name.startswith("auto")]
    for name in names:
        points = [(row.C, row.values[value]) for row in rows if row.who == name and row.C and value in row.values]
        axes.plot(*zip(*points, strict=True), marker="o", markersize=3, label=name, **_look(name))
    axes.set(xscale="log", yscale="log", xlabel="C")
    axes.legend()


def _memory(peaks: list[Target], path: Path) -> None:
    figure, axes = plt.subplots(figsize=(6.0, 0.7 + 0.5 * len(peaks)), layout="constrained")
    _bars(axes, peaks)
    axes.set(xlabel="peak memory of the process, MB (line: the limit aimed at)")
    _save(figure, path)


def _bars(axes: Axes, peaks: list[Target]) -> None:
    names = [target.what.partition(": ")[0] for target in peaks]
    axes.barh(names, [target.reached or 0.0 for target in peaks], height=0.5, color=BLUE)
    for row, target in enumerate(peaks):
        axes.plot([target.limit] * 2, [row - 0.35, row + 0.35], color=INK, linewidth=1.5)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None}, facecolor="white")
    plt.close(figure)
