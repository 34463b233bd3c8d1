"""Rank-biased precision."""

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import at_least, inside
from structsvm.types import Vector


@frozen
class RBP(BinaryMeasure):
    """Rank-biased precision: (1 − p) Σ p^(rank − 1) over the relevant documents that are ranked.

    Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", TOIS 2008, equation 5:
    relevant or not, and its base value, to which documents that were not judged add nothing. Undefined without
    a relevant document. Text: ``rbp``, ``rbp@10``, ``rbp(p=0.95)``.

    Parameters
    ----------
    k : only the first k documents count. None: all.
    p : persistence, the probability with which a user goes on to the next document, between 0 and 1.
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("rbp").values(lists).round(3).tolist()
    [0.328]
    """

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    p: float = field(default=0.8, kw_only=True, validator=inside(0.0, 1.0))

    @property
    def name(self) -> str:
        return "rbp"

    @property
    def note(self) -> str:
        return f"p = {self.p:g}"

    def values(self, lists: RankedLists) -> Vector:
        counting = self.found(lists)
        if self.k is not None:
            counting &= lists.rank <= self.k
        terms = (1.0 - self.p) * self.p ** (lists.rank[counting] - 1.0)
        total = np.bincount(lists.query[counting], terms, len(lists.ids))
        return np.where(np.isnan(self.n_relevant(lists)), np.nan, total)
