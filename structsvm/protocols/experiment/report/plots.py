"""The plots of a report as SVG, drawn by Matplotlib."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from attrs import frozen

from structsvm.metrics.average_precision import LEVELS
from structsvm.plots import (
    STYLE,
    FusionWeightsDisplay,
    InterpolatedPrecisionDisplay,
    QueryDifferencesDisplay,
    RegularizationPathDisplay,
    WeightsDisplay,
)
from structsvm.plots.files import Plot, figure_of
from structsvm.plots.style import BLUE, GREEN, INK, VERMILION, as_label, line_style, require_matplotlib
from structsvm.protocols.experiment.report.tables import VARIANTS, leading
from structsvm.protocols.experiment.results import WITH_BEST, WITHOUT_BEST, ExperimentResults, MapRow
from structsvm.protocols.results import known_gaps

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_SHORT = {WITH_BEST: "model", WITHOUT_BEST: "model without the best function"}

_PANELS = 4
_SMALLEST_GAP = 1e-7
_COMPARED = 3


@frozen
class Plots:
    """All plots of a report; ``differences``, ``regularisation`` and ``weights`` (of linear models) by variant."""

    overview: Plot
    differences: dict[str, Plot]
    regularisation: dict[str, Plot]
    training: Plot
    precision: Plot
    weights: dict[str, Plot]


def draw(results: ExperimentResults) -> Plots:
    """Draw all plots of a report; raise NotInstalledError if Matplotlib is missing."""
    require_matplotlib()
    from matplotlib import rc_context

    rows = {variant: results.rows(variant) for variant in results.variants}
    with rc_context(STYLE):
        return Plots(
            overview=_overview(rows),
            differences={variant: _differences(results, variant, rows[variant]) for variant in rows},
            regularisation={variant: _regularisation(results, variant) for variant in rows},
            training=_training(results),
            precision=_precision(results, rows),
            weights={variant: plot for variant in rows if (plot := _weights(results, variant, rows[variant]))},
        )


def _overview(rows: dict[str, tuple[MapRow, ...]]) -> Plot:
    names = [row.name for row in next(iter(rows.values()))]
    models = [row.name for row in next(iter(rows.values())) if not row.place]
    with figure_of("overview", 8.0, 0.9 + 0.24 * len(names)) as (figure, drawn):
        axes = figure.subplots()
        axes.axhline(len(models) - 0.5, color=INK, linewidth=0.6, alpha=0.5)
        for (variant, of_variant), colour, marker in zip(rows.items(), (BLUE, VERMILION), "oD", strict=False):
            shown = [row for row in of_variant if not row.place]
            axes.plot(
                [row.map for row in shown],
                range(len(shown)),
                marker,
                color=colour,
                fillstyle="full" if variant == WITH_BEST else "none",
                label=_SHORT[variant],
            )
        functions = [row for row in next(iter(rows.values())) if row.place]
        axes.plot(
            [row.map for row in functions],
            range(len(models), len(names)),
            "s",
            color=GREEN,
            label="base function",
        )
        if functions:
            axes.axvline(functions[0].map, color=GREEN, linewidth=0.8, linestyle="--")
        axes.set(yticks=range(len(names)), yticklabels=list(map(as_label, names)), xlabel="MAP over the pool")
        axes.invert_yaxis()
        figure.legend(loc="outside upper left", ncols=3)
    return drawn("MAP of each model, and of the best base functions; the dashed line is the best of them.")


def _differences(results: ExperimentResults, variant: str, rows: Sequence[MapRow]) -> Plot:
    reference, *others = rows
    with figure_of(f"differences-{variant}", *_size(len(others))) as (figure, drawn):
        for axes, row in zip(_panels(figure, len(others), share_x=True), others, strict=True):
            known = ~np.isnan(reference.values - row.values)
            QueryDifferencesDisplay(reference.values[known], row.values[known]).plot(axes)
            axes.set_title(f"{as_label(row.name)} · {row.wins}/{row.losses}/{row.ties}", loc="left")
            axes.set(xlabel="", ylabel="")
        figure.supxlabel("queries, by difference", fontsize=9.0)
        figure.supylabel(f"AP of {as_label(reference.name)} minus AP", fontsize=9.0)
    return drawn(
        f"Per-query differences: average precision of {reference.name} minus that of each other ranker, sorted. Blue: "
        f"{reference.name} does better. The dashed line is the mean. Wins/losses/ties of {reference.name} are beside "
        "the names."
    )


def _precision(results: ExperimentResults, rows: dict[str, tuple[MapRow, ...]]) -> Plot:
    best = results.functions[0]
    of_best = best.precision
    with figure_of("precision", 9.2 if len(rows) > 1 else 5.6, 4.4) as (figure, drawn):
        panels = figure.subplots(2, len(rows), sharex=True, sharey="row", squeeze=False, height_ratios=(2.0, 1.0))
        for (curve, difference), (variant, of_variant) in zip(panels.T, rows.items(), strict=True):
            models = [row.name for row in leading(of_variant) if not row.place]
            found = {name: results.precision(variant, name) for name in models}
            shown = {**found, f"{best.name} (base function)": of_best}
            InterpolatedPrecisionDisplay(LEVELS, shown).plot(curve)
            difference.axhline(0.0, color=INK, linewidth=0.6)
            for number, each in enumerate(found.values()):
                difference.plot(LEVELS, each - of_best, **line_style(number), marker="o", markersize=2.5)
            curve.set(xlabel="", ylabel="")
            curve.set_title(f"models read {VARIANTS[variant]}", loc="left")
        panels[0, 0].set_ylabel("precision")
        panels[1, 0].set_ylabel("difference")
        figure.supxlabel("recall", fontsize=9.0)
    others = ", the best other model" if len(results.models) > 1 else ""
    return drawn(
        f"Interpolated precision at 11 levels of recall over the pool, mean over the test queries of all trials: of "
        f"{results.reference}{others} and the best base function; below, how far models are ahead of that. At "
        "the left is the top of rankings, at the right how far down the last relevant documents are."
    )


def _weights(results: ExperimentResults, variant: str, rows: Sequence[MapRow]) -> Plot | None:
    models = [row for row in rows if not row.place]
    by_map = [models[0], *sorted(models[1:], key=lambda row: -row.map)]
    found = {row.name: results.weights(variant, row.name) for row in by_map}
    known = {name: each[each.any(axis=1)] for name, each in found.items() if each is not None and each.any()}
    if not known:
        return None
    shown = sorted(list(known)[:_COMPARED], key=results.models.index)
    weights, read = {name: known[name] for name in shown}, results.functions_read(variant)
    first, share = next(iter(FusionWeightsDisplay(weights).shares.items()))
    order = np.argsort(-np.abs(share), kind="stable")
    of_function = {function.name: function.mean_ap for function in results.functions}
    called = [f"{read[k]} ({of_function[read[k]]:.3f})" for k in order]
    display = FusionWeightsDisplay({name: each[:, order] for name, each in weights.items()}, called)
    bars = WeightsDisplay(share[order], called, quantity="share of the weights", top=None)
    with figure_of(f"weights-{variant}", 9.2, 1.0 + 0.22 * max(len(order), 4)) as (figure, drawn):
        panels = figure.subplots(1, min(len(weights), 2), sharex=True, sharey=True, squeeze=False)[0]
        for axes in panels[1:]:
            display.plot(axes)
            figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=len(weights))
            axes.get_legend().remove()
        bars.plot(panels[0])
        if first in display.middle_halves:
            panels[0].hlines(range(len(order)), *display.middle_halves[first], color=INK, linewidth=1.0)
        panels[0].set_ylim(len(order) - 0.5, -0.5)
        panels[0].set_title(as_label(first), loc="left")
    beside = f"; at the right beside {' and '.join([*weights][1:])}" if len(weights) > 1 else ""
    return drawn(
        f"What {first} weighs each base function by, whose MAP is beside its name: its share of all weights, mean of "
        f"the trials, with a line over the middle half of them{beside}. The weight of a base function, which of "
        "indicators is their sum, is what a document gains that it ranks first over one that it did not retrieve."
    )


def _regularisation(results: ExperimentResults, variant: str) -> Plot:
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
            RegularizationPathDisplay(places if named else values, validation, test=test, picks=picks).plot(axes)
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


def _training(results: ExperimentResults) -> Plot:
    models = results.models
    with figure_of("training", 8.0, 1.0 + 0.26 * len(models)) as (figure, drawn):
        time, gap = figure.subplots(1, 2, sharey=True)
        shifts = np.linspace(-0.14, 0.14, len(results.variants)) if len(results.variants) > 1 else [0.0]
        for variant, colour, shift in zip(results.variants, (BLUE, VERMILION), shifts, strict=False):
            for row, model in enumerate(models):
                fits = results.fits(variant, model)
                label = _SHORT[variant] if row == 0 else None
                _strip(time, [sum(fit.seconds) for fit in fits], row + shift, colour, label)
                gaps = [max(gap, _SMALLEST_GAP) for gap in known_gaps(fits)]
                _strip(gap, gaps, row + shift, colour, None)
        time.set(
            xscale="log",
            xlabel="wall-clock seconds a trial, all values",
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
    """Create panels that share one scale of MAP."""
    columns = min(number, _PANELS)
    rows = -(-number // columns)
    panels = figure.subplots(rows, columns, sharey=True, sharex=share_x, squeeze=False).ravel()
    for unused in panels[number:]:
        unused.set_axis_off()
    return iter(panels[:number])
