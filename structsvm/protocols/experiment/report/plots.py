"""The plots of a report as SVG, drawn by Matplotlib."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from structsvm.evaluation.significance.intervals import range_of_differences
from structsvm.foundation.types import Vector
from structsvm.metrics.average_precision import AP
from structsvm.plots import STYLE, FusionWeightsDisplay, MeansDisplay
from structsvm.plots.files import Plot, figure_of
from structsvm.plots.style import BLUE, GREEN, INK, VERMILION, as_label, require_matplotlib
from structsvm.protocols.results import WITH_BEST, WITHOUT_BEST, MapRow, Results

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_SHORT = {WITH_BEST: "model", WITHOUT_BEST: "model without the best function"}

_WIDTH = 9.4
"""Width of all figures in inches; see `structsvm.plots.files.figure_of`."""

_COMPARED = 3


class _Dot(NamedTuple):
    """A mean with the ends of its interval, its height in a panel, and its color."""

    mean: float
    low: float
    high: float
    height: float
    color: str


def figure_names(variants: Iterable[str]) -> tuple[str, ...]:
    """Return the names of all figures of a report; weights are drawn if a model is linear."""
    return ("overview", *(f"weights-{variant}" for variant in variants))


def draw(results: Results) -> dict[str, Plot]:
    """Draw all plots of a report by name; raise NotInstalledError if Matplotlib is missing."""
    require_matplotlib()
    from matplotlib import rc_context

    rows = {variant: results.rows(variant) for variant in results.variants}
    with rc_context(STYLE):
        plots = {f"weights-{variant}": _weights(results, variant, of_variant) for variant, of_variant in rows.items()}
        plots = {"overview": overview(rows), **plots}
    return {name: plot for name, plot in plots.items() if plot is not None}


def overview(rows: dict[str, tuple[MapRow, ...]]) -> Plot:
    """Draw the means of all rankers, and their differences from the first, for the rows of each variant."""
    first = next(iter(rows.values()))
    reference, functions = first[0].name, [place for place, row in enumerate(first) if row.place]
    shown: list[_Dot] = []
    with figure_of("overview", _WIDTH, 1.0 + 0.28 * len(first)) as (figure, drawn):
        means, differences = figure.subplots(1, 2, sharey=True)
        for (variant, of_variant), color, marker in zip(rows.items(), (BLUE, VERMILION), "oD", strict=False):
            values = _tested(of_variant)
            look: dict[str, Any] = {
                "color": color,
                "marker": marker,
                "fillstyle": "full" if variant == WITH_BEST else "none",
                "shift": 0.0 if len(rows) == 1 else -0.15 if variant == WITH_BEST else 0.15,
            }
            models = {row: of_row for row, of_row in enumerate(values) if row not in functions}
            minus = {row: values[0] - of_row for row, of_row in enumerate(values) if row}
            _dots(means, models, label=_SHORT[variant], **look)
            shown += _dots(differences, minus, differences=True, **look)
        if functions:
            values = _tested(first)
            _dots(means, {place: values[place] for place in functions}, color=GREEN, marker="s", label="base function")
            means.axvline(first[functions[0]].map, color=GREEN, linewidth=0.8, linestyle="--")
            for axes in (means, differences):
                axes.axhline(functions[0] - 0.5, color=INK, linewidth=0.6, alpha=0.5)
        differences.axvline(0.0, color=INK, linewidth=0.6)
        beyond = _magnify(differences, shown)
        means.set_yticks(range(len(first)), labels=[as_label(row.name) for row in first])
        means.set(xlabel="MAP over the pool", ylim=(len(first) - 0.5, -0.5))
        differences.set_xlabel(f"MAP of {as_label(reference)} minus MAP")
        figure.legend(loc="outside upper left", ncols=3)
    return drawn(
        "Left: MAP of each model and of the best base functions, with 95% intervals (Student's t over queries). The "
        f"dashed line is the best base function. Right: mean difference of {reference} from each other ranker, with "
        f"such intervals. Right of 0, {reference} is better{beyond}. The interval of a "
        "difference is narrower than the intervals of two means, because both rankers meet the same easy and hard "
        "queries."
    )


def _tested(rows: Sequence[MapRow]) -> list[Vector]:
    """Return the values of each row on the queries that some trial tested."""
    tested = ~np.isnan(rows[0].values)
    return [row.values[tested] for row in rows]


def _dots(
    axes: "Axes", values: dict[int, Vector], *, color: str, shift: float = 0.0, differences: bool = False, **look: Any
) -> list[_Dot]:
    """Draw means with intervals in consecutive rows, given the values by row."""
    if not values:
        return []
    ends = range_of_differences(AP.value_range) if differences else AP.value_range
    display = MeansDisplay({str(row): of_row for row, of_row in values.items()}, value_range=ends)
    display.plot(axes, shift=min(values) + shift, color=color, **look)
    return [
        _Dot(mean, *(display.intervals[row] or (mean, mean)), int(row) + shift, color)
        for row, mean in display.means.items()
    ]


def _magnify(axes: "Axes", dots: Sequence[_Dot]) -> str:
    """Zoom in on small means, with a number for each mean outside; return the addition to the caption."""
    sizes = [max(abs(dot.low), abs(dot.high)) for dot in dots]
    limit = 1.3 * float(np.median(sizes)) if sizes else 0.0
    if not limit or max(sizes) < 2.0 * limit:
        return ""
    lowest, highest = min(dot.low for dot in dots), max(dot.high for dot in dots)
    axes.set_xlim(max(1.1 * min(lowest, 0.0) - 0.05 * limit, -limit), min(1.1 * max(highest, 0.0), limit))
    for dot in dots:
        if abs(dot.mean) > limit:
            right = dot.mean > 0.0
            axes.text(
                0.99 if right else 0.01,
                dot.height,
                f"{dot.mean:.2f} →" if right else f"← {dot.mean:.2f}",
                transform=axes.get_yaxis_transform(),
                ha="right" if right else "left",
                va="bottom",  # above the line of its interval
                fontsize=7.0,
                color=dot.color,
            )
    return "; numbers with an arrow are means outside of the panel"


def _weights(results: Results, variant: str, rows: Sequence[MapRow]) -> Plot | None:
    models = [row for row in rows if not row.place]
    by_map = [models[0], *sorted(models[1:], key=lambda row: -row.map)]
    of_models = {row.name: results.weights(variant, row.name) for row in by_map}
    linear = {
        name: of_trials[of_trials.any(axis=1)]
        for name, of_trials in of_models.items()
        if of_trials is not None and of_trials.any()
    }
    if not linear:
        return None
    shown = sorted(list(linear)[:_COMPARED], key=results.models.index)
    weights, read = {name: linear[name] for name in shown}, results.functions_read(variant)
    first, share = next(iter(FusionWeightsDisplay(weights).shares.items()))
    order = np.argsort(-np.abs(share), kind="stable")
    of_function = {function.name: function.mean_ap for function in results.functions}
    labels = [f"{read[k]} ({of_function[read[k]]:.3f})" for k in order]
    height = 1.0 + (0.12 + 0.1 * len(weights)) * max(len(order), 4)
    with figure_of(f"weights-{variant}", _WIDTH, height) as (figure, drawn):
        axes = figure.subplots()
        FusionWeightsDisplay({name: of_trials[:, order] for name, of_trials in weights.items()}, labels).plot(axes)
        axes.set_ylim(len(order) - 0.5, -0.5)
        axes.set_xlabel("share of the total weight")
        if len(weights) == 1:
            axes.set_title(as_label(first), loc="left")
        if (legend := axes.get_legend()) is not None:
            # Above the axes, the legend cannot hide data.
            legend.remove()
            figure.legend(loc="outside upper left", ncols=len(weights))
    named = first if len(weights) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
    return drawn(
        f"Share of the total weight of {named} per base function (MAP in parentheses), in the order of {first}. Dots: "
        "mean over trials; lines: interquartile range. With binned features the weight is the sum over bins."
    )
