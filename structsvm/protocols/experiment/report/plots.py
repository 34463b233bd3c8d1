"""The plots of a report, by Matplotlib: SVG for a page."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from structsvm.plots import STYLE, QueryDifferencesDisplay, RegularisationPathDisplay
from structsvm.plots.style import BLUE, GREEN, INK, VERMILION, as_label, require_matplotlib
from structsvm.plots.svg import Plot, figure_of
from structsvm.protocols.experiment import WITH_BEST, WITHOUT_BEST, Results, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SHORT = {WITH_BEST: "model", WITHOUT_BEST: "model without the best function"}

_PANELS = 4
_SMALLEST_GAP = 1e-7


@frozen
class Plots:
    """All plots of a report.

    Parameters
    ----------
    overview : MAP of models and base functions.
    differences : average precision of the first model minus that of each other row, query by query; by variant.
    regularisation : MAP against the hyper-parameter, C of an SVM; by variant.
    training : time and gap of each model.
    """

    overview: Plot
    differences: dict[str, Plot]
    regularisation: dict[str, Plot]
    training: Plot


def draw(results: Results) -> Plots:
    """Draw all plots of a report.

    Raises
    ------
    NotInstalledError : when Matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib import rc_context

    rows = {variant: results.rows(variant) for variant in results.variants}
    with rc_context(STYLE):
        return Plots(
            overview=_overview(rows),
            differences={variant: _differences(results, variant, rows[variant]) for variant in rows},
            regularisation={variant: _regularisation(results, variant) for variant in rows},
            training=_training(results),
        )


def _overview(rows: dict[str, tuple[Row, ...]]) -> Plot:
    names = [row.name for row in next(iter(rows.values()))]
    models = [row.name for row in next(iter(rows.values())) if not row.place]
    with figure_of("overview", 8.0, 0.9 + 0.24 * len(names)) as (figure, drawn):
        axes = figure.subplots()
        axes.axhline(len(models) - 0.5, color=INK, linewidth=0.6, alpha=0.5)
        for (variant, of_variant), colour, marker in zip(rows.items(), (BLUE, VERMILION), "oD", strict=False):
            shown = [row for row in of_variant if not row.place]
            axes.plot(
                [row.mean for row in shown],
                range(len(shown)),
                marker,
                color=colour,
                fillstyle="full" if variant == WITH_BEST else "none",
                label=_SHORT[variant],
            )
        functions = [row for row in next(iter(rows.values())) if row.place]
        axes.plot(
            [row.mean for row in functions],
            range(len(models), len(names)),
            "s",
            color=GREEN,
            label="base function",
        )
        if functions:
            axes.axvline(functions[0].mean, color=GREEN, linewidth=0.8, linestyle="--")
        axes.set(yticks=range(len(names)), yticklabels=list(map(as_label, names)), xlabel="MAP over the pool")
        axes.invert_yaxis()
        figure.legend(loc="outside upper left", ncols=3)
    return drawn("MAP of each model, and of the best base functions; the dashed line is the best of them.")


def _differences(results: Results, variant: str, rows: Sequence[Row]) -> Plot:
    reference, *others = rows
    with figure_of(f"differences-{variant}", *_size(len(others))) as (figure, drawn):
        for axes, row in zip(_panels(figure, len(others), share_x=True), others, strict=True):
            known = ~np.isnan(reference.values - row.values)
            QueryDifferencesDisplay(reference.values[known], row.values[known]).plot(axes)
            against = row.against
            score = f" · {against.wins}/{against.losses}/{against.ties}" if against else ""
            axes.set_title(f"{as_label(row.name)}{score}", loc="left")
            axes.set(xlabel="", ylabel="")
        figure.supxlabel("queries, by difference", fontsize=9.0)
        figure.supylabel(f"AP of {as_label(reference.name)} minus AP", fontsize=9.0)
    return drawn(
        f"Per-query differences: average precision of {reference.name} minus that of each other ranker, sorted. Blue: "
        f"{reference.name} does better. The dashed line is the mean. Wins/losses/ties of {reference.name} are beside "
        "the names."
    )


def _regularisation(results: Results, variant: str) -> Plot:
    with figure_of(f"regularisation-{variant}", *_size(len(results.models))) as (figure, drawn):
        for axes, model in zip(_panels(figure, len(results.models)), results.models, strict=True):
            fits = results.fits(variant, model)
            values = fits[0].values
            named = any(isinstance(value, str) for value in values)
            validation, test = (
                np.mean([getattr(fit, what) for fit in fits], axis=0) for what in ("validation", "test")
            )
            picks = np.bincount([fit.chosen for fit in fits], minlength=len(values))
            places = [str(k) for k in range(1, len(values) + 1)]
            RegularisationPathDisplay(places if named else values, validation, test=test, picks=picks).plot(axes)
            axes.set(xlabel="", ylabel="")
            axes.set_title(as_label(model), loc="left")
            handles, labels = axes.get_legend_handles_labels()
            if (legend := axes.get_legend()) is not None:
                legend.remove()
        figure.supxlabel("hyper-parameter", fontsize=9.0)
        figure.supylabel("MAP, mean of the trials", fontsize=9.0)
        figure.legend(handles, labels, loc="outside upper left", ncols=3, markerscale=0.6)
    return drawn(
        "MAP against the hyper-parameter (C of an SVM; where it is no number, its place in the table) on validation "
        "and on test queries, mean of the trials. The discs show how often validation picked each value."
    )


def _training(results: Results) -> Plot:
    models = results.models
    with figure_of("training", 8.0, 1.0 + 0.26 * len(models)) as (figure, drawn):
        time, gap = figure.subplots(1, 2, sharey=True)
        shifts = np.linspace(-0.14, 0.14, len(results.variants)) if len(results.variants) > 1 else [0.0]
        for variant, colour, shift in zip(results.variants, (BLUE, VERMILION), shifts, strict=False):
            for row, model in enumerate(models):
                fits = results.fits(variant, model)
                label = _SHORT[variant] if row == 0 else None
                _strip(time, [sum(fit.seconds) for fit in fits], row + shift, colour, label)
                gaps = [max(each, _SMALLEST_GAP) for fit in fits for each in fit.gaps if each is not None]
                _strip(gap, gaps, row + shift, colour, None)
        time.set(
            xscale="log",
            xlabel="seconds a trial, all values",
            yticks=range(len(models)),
            yticklabels=list(map(as_label, models)),
        )
        gap.set(xscale="log", xlabel="certified gap, units of the loss")
        time.invert_yaxis()
        figure.legend(loc="outside upper left", ncols=2)
    return drawn(
        "Time to train for all values of the hyper-parameter in a trial, and certified gap for each C: from the least "
        "to the largest, the middle half (thick), and the median (dot)."
    )


def _strip(axes: "Axes", values: Sequence[float], height: float, colour: str, label: str | None) -> None:
    if not values:
        return
    low, lower, middle, upper, high = np.quantile(np.maximum(values, 1e-9), [0.0, 0.25, 0.5, 0.75, 1.0])
    axes.plot([low, high], [height, height], color=colour, linewidth=0.8)
    axes.plot([lower, upper], [height, height], color=colour, linewidth=3.0, solid_capstyle="butt")
    axes.plot([middle], [height], "o", color=colour, markersize=4.0, label=label)


def _size(panels: int) -> tuple[float, float]:
    return 9.2, 0.8 + 1.5 * -(-panels // _PANELS)


def _panels(figure: "Figure", number: int, *, share_x: bool = False) -> Iterator["Axes"]:
    """Make panels with one scale of MAP."""
    columns = min(number, _PANELS)
    rows = -(-number // columns)
    panels = figure.subplots(rows, columns, sharey=True, sharex=share_x, squeeze=False).ravel()
    for unused in panels[number:]:
        unused.set_axis_off()
    return iter(panels[:number])
