"""The page of the demo, with its pictures."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from structsvm.cli.demo.parts import EXPERIMENT, SETTINGS, Part, Sequences
from structsvm.data.digits import FUNCTIONS
from structsvm.exceptions import NotInstalledError
from structsvm.foundation.storage.records import versions
from structsvm.foundation.tables.formats import environment, page_style, write_texts
from structsvm.foundation.types import Matrix
from structsvm.plots.files import Plot, figure_of
from structsvm.plots.style import BLUE, GREEN, STYLE, VERMILION, as_label, require_matplotlib
from structsvm.protocols.experiment.plan import RESULTS
from structsvm.protocols.experiment.report.plots import overview
from structsvm.protocols.results import WITH_BEST
from structsvm.solvers.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PAGE = "report.html"
FILES = (PAGE, f"{EXPERIMENT}/{RESULTS}")

_SHOWN = ("cosine", "rows")
_DOCUMENTS = 10


def write_page(parts: Sequence[Part], out: Path) -> tuple[Path, str]:
    """Write the report; return its path, and the reason why it has no pictures, or ""."""
    pictures, missing = list[list[Plot]](), ""
    try:
        pictures = _pictures(parts)
    except NotInstalledError as error:
        missing = str(error)
    page = environment("structsvm.cli.demo").get_template("demo.html.j2")
    text = page.render(
        style=page_style(),
        parts=parts,
        pictures=pictures or [[] for _ in parts],
        missing=missing,
        words={model.name: model.description for model in SETTINGS.as_objects()},
        folder=out / EXPERIMENT,
        versions=versions(),
    )
    (path,) = write_texts({PAGE: text}, out)
    return path, missing


def _pictures(parts: Sequence[Part]) -> list[list[Plot]]:
    require_matplotlib()
    from matplotlib import rc_context

    ranking, solving, reading = (part.data for part in parts)
    with rc_context(STYLE):
        return [
            [_query(), overview({WITH_BEST: ranking.rows(WITH_BEST)})],
            [_bounds(solving)],
            [_number(reading[-1])],
        ]


def _query(query: int = 0) -> Plot:
    """Draw a query, and the best documents of two base functions."""
    digits = load_digits()
    images, shown = digits.images / 16.0, digits.target
    with figure_of("query", 9.4, 2.4) as (figure, drawn):
        for panels, name in zip(figure.subplots(len(_SHOWN), _DOCUMENTS + 1), _SHOWN, strict=True):
            view, distance = FUNCTIONS[name]
            features = view(images[:400])
            documents = np.argsort(cdist(features[[query]], features, distance)[0], kind="stable")
            for place, (axes, image) in enumerate(zip(panels, [query, *documents[documents != query]], strict=False)):
                _show(axes, images[image])
                axes.set_title("query" if not place else f"{place}", fontsize=8.0)
                if place:
                    text, color = ("relevant", GREEN) if shown[image] == shown[query] else ("not", VERMILION)
                    axes.set_xlabel(text, fontsize=8.0, color=color)
            panels[0].set_ylabel(name)
    return drawn(
        f"A query, and the {_DOCUMENTS} documents that two base functions put first: {_SHOWN[0]} compares all pixels, "
        f"{_SHOWN[1]} the ink of each row of pixels. Documents with the digit of the query are relevant."
    )


def _show(axes: "Axes", image: Matrix) -> None:
    axes.imshow(image, cmap="gray_r")
    axes.set(xticks=[], yticks=[])
    axes.grid(visible=False)


def _bounds(comparison: Comparison) -> Plot:
    """Draw the interval from lower bound to objective of each combination."""
    rows = [row for row in comparison if row.gap is not None]
    colors = dict(zip(dict.fromkeys(row.solver for row in rows), (BLUE, VERMILION), strict=False))
    with figure_of("bounds", 9.4, 0.9 + 0.25 * len(rows)) as (figure, drawn):
        axes = figure.subplots()
        for place, row in enumerate(rows):
            axes.plot(np.array([row.dual, row.primal]), [place, place], "|-", color=colors[row.solver], markersize=9.0)
        axes.set_yticks(range(len(rows)), labels=[as_label(f"{row.solver}, {row.backend}") for row in rows])
        axes.set(xlabel="objective", ylim=(len(rows) - 0.5, -0.5))
        axes.ticklabel_format(axis="x", useOffset=False)
    return drawn(
        "For each solver and QP backend, a line from its lower bound to the objective of its weights. The optimum lies "
        "on every line."
    )


def _number(level: Sequences) -> Plot:
    """Draw a number that the first model reads better than the best other model."""
    first, *others = level.readings
    best = max(others, key=lambda model: float(level.right(model).mean()))
    number = int(np.argmax(level.right(first) - level.right(best)))
    truth = level.ys[number]
    with figure_of("number", 9.4, 2.3) as (figure, drawn):
        for place, (axes, pixels) in enumerate(
            zip(figure.subplots(1, len(truth)), level.xs[number].reshape(-1, 8, 8), strict=True)
        ):
            _show(axes, pixels)
            axes.set_title(f"{truth[place]}")
            for line, model in enumerate((first, best)):
                digit = level.readings[model][number, place]
                text, color = (f"{digit}", GREEN) if digit == truth[place] else (f"{digit} ✗", VERMILION)
                axes.text(0.5, -0.18 - 0.2 * line, text, color=color, transform=axes.transAxes, ha="center")
    return drawn(
        f"A number at noise {level.noise}: above, the true digits; below, the readings of the {first}, and of "
        f"{best}. It is the test number on which the {first} is furthest ahead, not a typical one; it is "
        f"ahead on {np.mean(level.right(first) > level.right(best)):.0%} of the numbers, and behind on "
        f"{np.mean(level.right(first) < level.right(best)):.0%}."
    )
