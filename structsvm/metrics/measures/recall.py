"""Recall at k."""

from attrs import field, frozen

from structsvm.metrics.base import RankedLists
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.settings import at_least
from structsvm.types import Vector


@frozen
class Recall(BinaryMeasure):
    """Recall at k: relevant documents among the first k, over their number R.

    Relevant documents that are not ranked (`judged`) count in R, as in trec_eval. Undefined without a
    relevant document. Text: ``recall@10``.

    Parameters
    ----------
    k : cut-off, at least 1.
    relevant_from, empty : see `BinaryMeasure`.
    """

    k: int = field(validator=at_least(1))

    @property
    def name(self) -> str:
        return "recall"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total(self.found(lists) & (lists.rank <= self.k)) / self.n_relevant(lists)
