"""Expected reciprocal rank."""

import attrs
import numpy as np
from attrs import field, frozen

from structsvm.exceptions import InputError
from structsvm.metrics.base import Measure, RankedLists
from structsvm.settings import at_least
from structsvm.types import Vector


@frozen
class ERR(Measure):
    """Expected reciprocal rank: of the document at which a user stops who goes down the list.

    At a document of grade g the user stops with probability (2^g − 1) / 2^max_grade. Chapelle, Metzler, Zhang and
    Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009, equation 4. With ``max_grade=4`` it is that of
    TREC's Web track (gdeval), which ir_measures and RankLib have too. Grades below 0 stop nobody.
    Undefined without a grade above 0. Text: ``err@20``, ``err@10(max_grade=2)``.

    Parameters
    ----------
    k : only the first k documents count. None: all.
    max_grade : the best grade of the scale, whether a document has it or not, at least 1.
    empty : see `Measure`.

    Raises
    ------
    InputError : a grade is above max_grade.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("err@20").values(lists).round(3).tolist()
    [0.082]
    """

    k: int | None = field(default=None, validator=attrs.validators.optional(at_least(1)))
    max_grade: int = field(default=4, kw_only=True, validator=at_least(1))

    @property
    def name(self) -> str:
        return "err"

    @property
    def note(self) -> str:
        return f"the best grade is {self.max_grade}"

    def values(self, lists: RankedLists) -> Vector:
        largest = max(lists.label.max(initial=0.0), lists.judged.max(initial=0.0))
        if largest > self.max_grade:
            raise InputError(
                f"{self} is of grades up to {self.max_grade}, and there is one of {largest:g}: "
                f"give the best grade of the scale, err(max_grade={np.ceil(largest):g})"
            )
        stopping = lists.label > 0
        place = lists.count_down(stopping)[stopping] - 1
        query, rank = lists.query[stopping], lists.rank[stopping]
        chance = (np.exp2(lists.label[stopping]) - 1.0) / np.exp2(float(self.max_grade))
        going_on = np.ones((len(lists.ids), int(place.max(initial=0)) + 2))
        going_on[query, place + 1] = 1.0 - chance
        arriving = np.cumprod(going_on, axis=1)[query, place]
        counting = rank > 0 if self.k is None else rank <= self.k
        total = np.bincount(query, arriving * chance / rank * counting, len(lists.ids))
        return np.where(lists.total_judged(lists.judged > 0) > 0, total, np.nan)
