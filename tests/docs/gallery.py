"""The order in which the gallery shows its pages: as readers ask, not as long as the scripts are."""

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
