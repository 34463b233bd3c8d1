"""The settings of Morgan's experiment."""

from typing import Any

from attrs import asdict, field, filters, frozen

from examples.papers.morgan2004.methods import Method, as_methods, paper_methods
from examples.papers.morgan2004.split import FEWEST_OF_A_KIND
from structsvm.foundation.settings import at_least
from structsvm.protocols.model import require_different_names


@frozen(kw_only=True)
class MorganSettings:
    """The settings of Morgan's experiment; what the paper says of them is the default.

    Parameters
    ----------
    terms : terms of the longest query.
    repeats : random splits of the documents of each topic; the paper has one.
    min_relevant : topics with fewer relevant documents do not take part: of 20, about 5 are there to learn from, and
        as many to validate on.
    random_state : seed of the splits. Those of a topic are the same whichever other topics take part, and however many
        repeats there are.
    methods : what learns weights: methods, or models of `structsvm.protocols`; the first one is what others are
        compared with. Weight search, maximum entropy and SVM-map by default.

    Examples
    --------
    >>> from examples.papers.morgan2004 import MorganSettings
    >>> MorganSettings(terms=5, repeats=1).terms
    5
    """

    terms: int = field(default=20, validator=at_least(1))
    repeats: int = field(default=5, validator=at_least(1))
    min_relevant: int = field(default=20, validator=at_least(FEWEST_OF_A_KIND))
    random_state: int = field(default=0, validator=at_least(0))
    methods: tuple[Method, ...] = field(factory=paper_methods, converter=as_methods)

    def __attrs_post_init__(self) -> None:
        """Refuse methods that cannot be told apart."""
        require_different_names("MorganSettings(methods=...)", self.methods)

    def as_text(self) -> dict[str, Any]:
        """Return the settings as JSON has them: each method by name, as text."""
        methods = {method.name: repr(method) for method in self.methods}
        return {**asdict(self, filter=filters.exclude("methods")), "models": methods}
