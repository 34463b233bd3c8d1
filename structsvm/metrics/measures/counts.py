"""Counts of queries and documents, which are summed over queries."""

from typing import ClassVar

import numpy as np
from attrs import frozen

from structsvm.metrics.base import Measure, RankedLists, Summary
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.types import Vector


@frozen
class NumQ(Measure):
    """Number of queries that are ranked. Text: ``num_q``.

    Parameters
    ----------
    empty : see `Measure`; every query counts.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("num_q").values(lists).round(3).tolist()
    [1.0]
    """

    summary: ClassVar[Summary] = "sum"

    @property
    def name(self) -> str:
        return "num_q"

    def values(self, lists: RankedLists) -> Vector:
        return np.ones(len(lists.ids))


@frozen
class NumRet(Measure):
    """Number of documents that are ranked. Text: ``num_ret``.

    Parameters
    ----------
    empty : see `Measure`; every query counts.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("num_ret").values(lists).round(3).tolist()
    [3.0]
    """

    summary: ClassVar[Summary] = "sum"

    @property
    def name(self) -> str:
        return "num_ret"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total(np.ones(len(lists.query)))


@frozen
class NumRel(BinaryMeasure):
    """Number of relevant documents that were judged, ranked or not. Text: ``num_rel``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`; every query counts.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("num_rel").values(lists).round(3).tolist()
    [2.0]
    """

    summary: ClassVar[Summary] = "sum"

    @property
    def name(self) -> str:
        return "num_rel"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total_judged(self.relevant(lists.judged))


@frozen
class NumRelRet(BinaryMeasure):
    """Number of relevant documents that are ranked. Text: ``num_rel_ret``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`; every query counts.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("num_rel_ret").values(lists).round(3).tolist()
    [2.0]
    """

    summary: ClassVar[Summary] = "sum"

    @property
    def name(self) -> str:
        return "num_rel_ret"

    def values(self, lists: RankedLists) -> Vector:
        return lists.total(self.found(lists))
