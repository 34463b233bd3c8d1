"""The geometric mean of average precision."""

from typing import ClassVar

import numpy as np
from attrs import frozen

from structsvm.metrics.base import RankedLists, Summary
from structsvm.metrics.measures.average_precision import AP
from structsvm.metrics.measures.binary import BinaryMeasure
from structsvm.types import Vector

_LEAST = 1e-5
"""What counts for a query of less, so that one alone does not make the mean 0 (trec_eval)."""


@frozen
class GMAP(BinaryMeasure):
    """Geometric mean of average precision over queries, of which each counts 1e-5 at least.

    Robertson, "On GMAP: and other transformations", CIKM 2006, as in trec_eval. A query without a
    relevant document counts 1e-5, or nothing with ``empty="skip"``. Text: ``gm_map``.

    Parameters
    ----------
    relevant_from, empty : see `BinaryMeasure`.

    Examples
    --------
    >>> from structsvm.metrics import parse_measure, rank_lists
    >>> lists = rank_lists([3.0, 2.0, 1.0], [1, 0, 1], [1, 1, 1])
    >>> parse_measure("gm_map").values(lists).round(3).tolist()
    [0.833]
    """

    summary: ClassVar[Summary] = "geometric mean"

    @property
    def name(self) -> str:
        return "gm_map"

    def values(self, lists: RankedLists) -> Vector:
        return np.maximum(AP(relevant_from=self.relevant_from).values(lists), _LEAST)

    def over_queries(self, values: Vector, weights: Vector | None = None) -> float:
        return super().over_queries(np.maximum(values, _LEAST), weights)
