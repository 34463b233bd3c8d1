"""The settings of Morgan's experiment."""

from typing import Any

from attrs import asdict, field, filters, frozen

from examples.papers.morgan2004.methods import Method, as_methods, paper_methods
from examples.papers.morgan2004.split import FEWEST_OF_A_KIND
from structsvm.foundation.settings import at_least
from structsvm.protocols.model import require_different_names


@frozen(kw_only=True)
class MorganSettings:
    """The settings of Morgan's experiment; the defaults are as in the paper.

    Parameters
    ----------
    terms : terms of the longest query.
    repeats : random splits of the documents of each topic; the paper has one.
    min_relevant : topics with fewer relevant documents do not take part: of 20, about 5 are there to learn from, and
        as many to validate on.
    random_state : seed of the splits. The splits of a topic do not depend on other topics or on the number of repeats.
    methods : methods that learn weights, or models of `structsvm.protocols`; the first is compared with each other
        method. Default: weight search, maximum entropy and SVM-map.

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
        """Reject methods with equal names."""
        require_different_names("MorganSettings(methods=...)", self.methods)

    def as_text(self) -> dict[str, Any]:
        """Return the settings as JSON has them: each method by name, as text."""
        methods = {method.name: repr(method) for method in self.methods}
        return {**asdict(self, filter=filters.exclude("methods")), "models": methods}
