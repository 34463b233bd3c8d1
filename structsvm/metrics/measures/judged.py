"""How much of a ranking was judged."""

import attrs
from attrs import field, frozen

from structsvm.metrics.base import Measure, RankedLists
from structsvm.settings import at_least
from structsvm.types import Vector


@frozen
class JudgedShare(Measure):
    """Share of the first k documents that were judged; of all of them where fewer are ranked.

    A document of a grade below 0 was not judged. Text: ``judged@10``, ``judged``.

    Parameters
    ----------
    k : cut-off. None: all ranked documents.
    empty : see `Measure`; the share is defined for every query.

    Raises
    ------
    InputError : the lists do not tell what was judged; see `RankedLists.require_judged`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("judged@2").values(lists).round(3).tolist()
    [1.0]
    """

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))

    @property
    def name(self) -> str:
        return "judged"

    def values(self, lists: RankedLists) -> Vector:
        lists.require_judged(self)
        counting = lists.rank > 0 if self.k is None else lists.rank <= self.k
        return lists.total(lists.is_judged & counting) / lists.total(counting)
