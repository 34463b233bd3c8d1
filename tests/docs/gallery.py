"""The gallery: the order of its pages, by readers' questions, and texts for figures."""

import re
from typing import Any

ORDER = (
    "path_of_C",
    "fusion",
    "report",
    "convergence",
    "gap_against_time",
    "qp_backends",
    "certificates",
    "argmax_step_by_step",
    "feature_binning",
    "loss_from_scratch",
    "viterbi",
    "words_from_letters",
    "snakes",
    "multilabel",
    "matching",
    "tracking",
    "shortest_paths",
    "latent_variables",
    "latent_digits",
    "neural_ranker",
    "boosted_trees",
    "refitted_trees",
    "weight_search_line",
    "cluster",
)


class AsAsked:
    """A key of sphinx-gallery that sorts scripts by their places in `ORDER`."""

    def __init__(self, folder: object) -> None:
        pass

    def __call__(self, filename: object) -> int:
        return ORDER.index(str(filename).removeprefix("plot_").removesuffix(".py"))


def figures(block: Any, names: Any, settings: Any) -> str:
    """Save the figures of a block as sphinx-gallery does, and describe them to readers who do not see them."""
    import matplotlib.pyplot as plt
    from sphinx_gallery.scrapers import matplotlib_scraper

    plt.rcParams["savefig.transparent"] = True  # site.css shows plots on light and dark pages
    texts = [described(plt.figure(number)) for number in plt.get_fignums()]
    shown = matplotlib_scraper(block, names, settings)
    for text in texts:
        shown = re.sub(r":alt: (?!Plot)[^\n]*", lambda _, text=text: f":alt: Plot: {text}", shown, count=1)
    return shown


def described(figure: Any) -> str:
    """Return titles, axes and the names of lines of a figure."""
    texts = []
    for axes in figure.axes:
        lines = [name.strip(", ") for name in axes.get_legend_handles_labels()[1]]
        plotted = " against ".join(filter(None, [axes.get_ylabel(), axes.get_xlabel()]))
        parts = [axes.get_title() or axes.get_title(loc="left"), plotted, ", ".join(dict.fromkeys(lines))]
        texts.append(": ".join(filter(None, parts)))
    return " ".join("; ".join(dict.fromkeys(filter(None, texts))).split())
