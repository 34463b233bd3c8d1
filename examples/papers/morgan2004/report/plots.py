"""The plots of Morgan's experiment, by Matplotlib: SVG for a page and for separate files."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from attrs import frozen

from examples.papers.morgan2004.report.mean_curves import MeanCurvesDisplay
from examples.papers.morgan2004.results import PARTS, MorganResults
from structsvm.metrics.average_precision import LEVELS
from structsvm.plots import STYLE, FusionWeightsDisplay, InterpolatedPrecisionDisplay
from structsvm.plots.files import Plot, figure_of
from structsvm.plots.style import INK, as_label, line_style, require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from structsvm.foundation.types import Matrix, Vector

_PARTS = {"train": "training documents", "validation": "validation documents", "test": "test documents"}
_COLUMNS = 6


@frozen
class Plots:
    """All plots of a report.

    Parameters
    ----------
    curves : average precision against query length, the mean over topics.
    differences : of each method from the first one, with confidence intervals.
    lines : average precision against query length, a line for each topic.
    topics : the same, a panel for each topic.
    precision : precision against recall at the pick.
    weights : shares of the terms of the longest query, by their place; None if no method has weights.
    """

    curves: Plot
    differences: Plot
    lines: Plot
    topics: Plot
    precision: Plot
    weights: Plot | None


def draw(results: MorganResults) -> Plots:
    """Draw all plots of a report.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib import rc_context

    with rc_context(STYLE):
        return Plots(
            _curves(results),
            _differences(results),
            _lines(results),
            _topics(results),
            _precision(results),
            _weights(results),
        )


def _lengths(results: MorganResults) -> "Vector":
    return np.arange(1.0, results.terms + 1.0)


def _looks(results: MorganResults) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the methods with how their lines look, the same in all plots."""
    return ((method, line_style(k)) for k, method in enumerate(results.methods))


def _curves(results: MorganResults) -> Plot:
    with figure_of("curves", 9.2, 3.0) as (figure, drawn):
        for axes, part in zip(figure.subplots(1, len(PARTS), sharey=True), PARTS, strict=True):
            curves = {method: results.per_topic(method, part) for method in results.methods}
            MeanCurvesDisplay(_lengths(results), curves, interval=False).plot(axes)
            axes.set_title(_PARTS[part], loc="left")
        _label(figure, "average precision")
    return drawn(f"Average precision against query length, mean over {len(results.topics)} topics.")


def _differences(results: MorganResults) -> Plot:
    (reference, _), *others = _looks(results)
    with figure_of("differences", 9.2, 3.0) as (figure, drawn):
        for axes, part in zip(figure.subplots(1, len(PARTS), sharey=True), PARTS, strict=True):
            axes.axhline(0.0, color=INK, linewidth=0.6)
            base = results.per_topic(reference, part)
            for method, own in others:
                curve = {f"{method} minus {reference}": results.per_topic(method, part) - base}
                MeanCurvesDisplay(_lengths(results), curve).plot(axes, **own, marker="")
            axes.set_title(_PARTS[part], loc="left")
        _label(figure, "difference of average precision")
    return drawn(
        f"Average precision minus that of {reference}, mean over {len(results.topics)} topics, with the 95% "
        "confidence interval of the mean."
    )


def _lines(results: MorganResults) -> Plot:
    methods = list(_looks(results))
    with figure_of("lines", 9.2, 0.5 + 2.1 * len(methods)) as (figure, drawn):
        panels = figure.subplots(len(methods), len(PARTS), sharex=True, sharey=True, squeeze=False)
        for row, (method, own) in enumerate(methods):
            for axes, part in zip(panels[row], PARTS, strict=True):
                axes.plot(
                    _lengths(results), results.per_topic(method, part).T, color=own["color"], linewidth=0.7, alpha=0.6
                )
                axes.set_title(f"{as_label(method)}, {_PARTS[part]}", loc="left")
        _label(figure, "average precision")
    return drawn("Average precision against query length. Each line is a topic, the mean over its splits.")


def _topics(results: MorganResults) -> Plot:
    number = len(results.topics)
    columns = min(number, _COLUMNS)
    rows = -(-number // columns)
    of_part: dict[tuple[str, str], Matrix] = {
        (method, part): results.per_topic(method, part) for method in results.methods for part in ("train", "test")
    }
    with figure_of("topics", 9.2, 0.9 + 1.25 * rows) as (figure, drawn):
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for unused in panels[number:]:
            unused.set_axis_off()
        for row, (axes, topic) in enumerate(zip(panels[:number], results.topics, strict=True)):
            for method, own in _looks(results):
                label = as_label(method) if row == 0 else None
                axes.plot(_lengths(results), of_part[method, "test"][row], label=label, **own)
                axes.plot(
                    _lengths(results), of_part[method, "train"][row], color=own["color"], linewidth=0.6, alpha=0.6
                )
            axes.set_title(f"{as_label(topic.id)} ({topic.relevant} relevant)", loc="left", fontsize=8.0)
        _label(figure, "average precision")
    return drawn("Each topic: average precision on test documents, and on training documents (thin).")


def _precision(results: MorganResults) -> Plot:
    known = {method: results.precision(method) for method in results.methods}
    (reference, _), *others = _looks(results)
    with figure_of("precision", 9.2 if others else 5.6, 3.2) as (figure, drawn):
        panels = figure.subplots(1, 2 if others else 1, squeeze=False)[0]
        InterpolatedPrecisionDisplay(LEVELS, {name: each.mean(axis=0) for name, each in known.items()}).plot(panels[0])
        panels[0].set_ylabel("precision")
        for axes in panels[1:]:
            axes.axhline(0.0, color=INK, linewidth=0.6)
            for method, own in others:
                MeanCurvesDisplay(LEVELS, {method: known[method] - known[reference]}).plot(axes, **own)
            axes.set(xlabel="recall", ylabel=f"precision minus that of {as_label(reference)}")
    beside = f"; at the right minus that of {reference}, with the 95% confidence interval of the mean" if others else ""
    return drawn(
        "Interpolated precision at 11 levels of recall on test documents, at the query length that validation picks, "
        f"mean over {len(results.topics)} topics{beside}."
    )


def _weights(results: MorganResults) -> Plot | None:
    found = {method: results.weights(method) for method in results.methods}
    known = {method: each[each.any(axis=1)] for method, each in found.items() if each is not None and each.any()}
    if not known:
        return None
    places = [f"term {k}" for k in range(1, results.terms + 1)]
    with figure_of("weights", 6.0, 1.0 + 0.24 * max(results.terms, 4)) as (figure, drawn):
        axes = figure.subplots()
        FusionWeightsDisplay(known, places).plot(axes)
        if (legend := axes.get_legend()) is not None:
            legend.remove()
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper left", ncols=len(known))
    return drawn(
        f"Shares of the terms of the longest query in its weights, by their place: the mean of {len(results.trials)} "
        "trials, and a line over the middle half of them; a mean beyond its line is made by a few trials. The terms "
        "differ from trial to trial; the first tells most of relevance on the training documents."
    )


def _label(figure: "Figure", values: str) -> None:
    """Name the axes of all panels, and put the legend of the first above them, where it has names for more than one."""
    figure.supxlabel("terms in the query", fontsize=9.0)
    figure.supylabel(values, fontsize=9.0)
    panels: list[Axes] = figure.axes
    handles, labels = panels[0].get_legend_handles_labels()
    for axes in panels:
        if (legend := axes.get_legend()) is not None:
            legend.remove()
    if handles:
        figure.legend(handles, labels, loc="outside upper left", ncols=len(handles))
