"""The figure of a benchmark: means and differences with their intervals."""

from pathlib import Path

from structsvm.evaluation.significance.intervals import range_of_differences
from structsvm.foundation.tables.formats import write_texts
from structsvm.plots import STYLE, MeansDisplay
from structsvm.plots.files import figure_of
from structsvm.plots.style import measure_label, require_matplotlib
from structsvm.protocols.letor.results import Benchmark, value_range_of
from structsvm.protocols.report import figure_files

FILES = figure_files(["means"])
"""Files of `write_figures`."""


def write_figures(benchmark: Benchmark, folder: Path, baseline: str | None = None) -> tuple[Path, ...]:
    """Draw means and differences from the baseline (None: the first model) with 95% intervals, as an SVG file.

    Raise NotInstalledError if Matplotlib is missing.
    """
    require_matplotlib()
    from matplotlib import rc_context

    first = benchmark.models[0] if baseline is None else baseline
    values = {name: benchmark.queries(name) for name in benchmark.models}
    ends = value_range_of(benchmark.measure)
    label = measure_label(benchmark.measure)
    with rc_context(STYLE):
        with figure_of("means", 9.4, 0.9 + 0.28 * len(values)) as (figure, drawn):
            means, *others = figure.subplots(1, min(len(values), 2), sharey=True, squeeze=False)[0]
            for axes in others:
                # The baseline keeps its row, so that both panels have the same rows.
                differences = {name: of_model - values[first] for name, of_model in values.items()}
                MeansDisplay(
                    differences, measure=f"{label} minus that of {first}", value_range=range_of_differences(ends)
                ).plot(axes)
            MeansDisplay(values, measure=f"{label} on the test queries of all folds", value_range=ends).plot(means)
        plot = drawn(
            f"{label} of each model and its difference from {first}, with 95% intervals over the test queries of all "
            "folds"
        )
    return write_texts({FILES[0]: f"{plot.svg}\n"}, folder)
