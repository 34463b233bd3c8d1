"""The plots of Morgan's experiment, by Matplotlib: SVG for a page and for files of their own."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from structsvm.protocols.morgan.results import PARTS, MorganResults
from structsvm.significance.student import mean_interval
from structsvm.tables.plots import (
    BLUE,
    GREEN,
    INK,
    ORANGE,
    SETTINGS,
    Plot,
    as_label,
    figure_of,
    require_matplotlib,
)

if TYPE_CHECKING:
    from structsvm.types import Matrix, Vector

_COLOURS = (BLUE, ORANGE, GREEN, "#8a63c9", "#b0891c", "#7a7f85")
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
    """

    curves: Plot
    differences: Plot
    lines: Plot
    topics: Plot


def draw(results: MorganResults) -> Plots:
    """Draw all plots of a report.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        return Plots(_curves(results), _differences(results), _lines(results), _topics(results))


def _coloured(results: MorganResults) -> Iterator[tuple[str, str]]:
    return ((method, _COLOURS[k % len(_COLOURS)]) for k, method in enumerate(results.methods))


def _lengths(results: MorganResults) -> "Vector":
    return np.arange(1.0, results.terms + 1.0)


def _curves(results: MorganResults) -> Plot:
    with figure_of("curves", 9.2, 3.0) as (figure, drawn):
        for axes, part in zip(figure.subplots(1, len(PARTS), sharey=True), PARTS, strict=True):
            for method, colour in _coloured(results):
                mean = results.per_topic(method, part).mean(axis=0)
                axes.plot(
                    _lengths(results),
                    mean,
                    "o-",
                    color=colour,
                    markersize=2.5,
                    linewidth=1.3,
                    label=as_label(method) if part == "train" else None,
                )
            axes.set_title(_PARTS[part], loc="left")
        figure.supxlabel("terms in the query", fontsize=9.0)
        figure.supylabel("average precision", fontsize=9.0)
        figure.legend(loc="outside upper left", ncols=len(results.methods))
    return drawn(f"Average precision against query length, mean over {len(results.topics)} topics.")


def _differences(results: MorganResults) -> Plot:
    reference, *others = _coloured(results)
    with figure_of("differences", 9.2, 3.0) as (figure, drawn):
        for axes, part in zip(figure.subplots(1, len(PARTS), sharey=True), PARTS, strict=True):
            axes.axhline(0.0, color=INK, linewidth=0.6)
            for method, colour in others:
                difference = results.per_topic(method, part) - results.per_topic(reference[0], part)
                label = f"{as_label(method)} minus {as_label(reference[0])}" if part == "train" else None
                axes.plot(_lengths(results), difference.mean(axis=0), color=colour, linewidth=1.3, label=label)
                intervals = [mean_interval(each) for each in difference.T]
                ends = [each for each in intervals if each is not None]
                if ends:
                    axes.fill_between(_lengths(results), *np.array(ends).T, color=colour, alpha=0.18, linewidth=0.0)
            axes.set_title(_PARTS[part], loc="left")
        figure.supxlabel("terms in the query", fontsize=9.0)
        figure.supylabel("difference of average precision", fontsize=9.0)
        if others:
            figure.legend(loc="outside upper left", ncols=len(others))
    return drawn(
        f"Average precision minus that of {reference[0]}, mean over {len(results.topics)} topics, with the 95% "
        "confidence interval of the mean."
    )


def _lines(results: MorganResults) -> Plot:
    methods = list(_coloured(results))
    with figure_of("lines", 9.2, 0.5 + 2.1 * len(methods)) as (figure, drawn):
        panels = figure.subplots(len(methods), len(PARTS), sharex=True, sharey=True, squeeze=False)
        for row, (method, colour) in enumerate(methods):
            for axes, part in zip(panels[row], PARTS, strict=True):
                axes.plot(_lengths(results), results.per_topic(method, part).T, color=colour, linewidth=0.7, alpha=0.6)
                axes.set_title(f"{as_label(method)}, {_PARTS[part]}", loc="left")
        figure.supxlabel("terms in the query", fontsize=9.0)
        figure.supylabel("average precision", fontsize=9.0)
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
            for method, colour in _coloured(results):
                label = as_label(method) if row == 0 else None
                axes.plot(_lengths(results), of_part[method, "test"][row], color=colour, linewidth=1.2, label=label)
                axes.plot(_lengths(results), of_part[method, "train"][row], ":", color=colour, linewidth=0.9)
            axes.set_title(f"{as_label(topic.id)} ({topic.relevant} relevant)", loc="left", fontsize=8.0)
        figure.supxlabel("terms in the query", fontsize=9.0)
        figure.supylabel("average precision", fontsize=9.0)
        figure.legend(loc="outside upper left", ncols=len(results.methods))
    return drawn("Each topic: average precision on test documents, and on training documents (dotted).")
