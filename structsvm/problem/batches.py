"""Batches of visits: several threads find the planes of a batch's examples at the same weights.

After Wang, Sadhanala, Dai, Neiswanger, Sra and Xing, "Parallel and Distributed Block-Coordinate Frank-Wolfe
Algorithms", ICML 2016, who step along the line to all planes of a batch at once. Here one example steps after the
other, at the weights after the previous steps, so that each step is the best possible.

Weights move to and fro with each step, so planes found at the weights after the previous batch are worse than planes
found after every step. Planes found at an average over the previous batches are as good
(benchmarks/solvers/threads_tried.md).
"""

from typing import NamedTuple, Self

import numpy as np

from structsvm.foundation.compute.threads import VALUES_AN_ARGMAX
from structsvm.foundation.types import IntVector, Vector

NEXT, STEPPED, STOP, FIRST_DONE = 0, 8, 16, 24
"""Indices of counters: chunks taken, batches whose steps are done, stop flag, and the first of the counters of done
chunks per batch. Counters that threads wait for have separate cache lines."""

_BATCHES = 50
"""Batches per pass; with fewer, planes are found too far from the steps, and a fit takes more passes."""

_LARGE = 1_000_000
"""Feature values per batch beyond which more than `_ENOUGH` examples do not help."""

_ENOUGH = 32

_CHUNK = 4_000
"""Smallest number of feature values that a thread reads before it takes more work; they take some µs."""

_SHARE = 0.4
"""Share of the latest weights in the average at which planes are found."""

_FIRST_SHARE = 0.6
"""Share of the latest weights in the average during a first pass, in which weights move in one direction."""

_FEW = 3
"""Batch size up to which weights move so little that a larger share of the latest weights is better."""

_SHARE_OF_FEW = 0.6

_FIRST_SHARE_OF_FEW = 0.8


class Batches(NamedTuple):
    """The plan of visits and its progress.

    ``chunk_ptr`` is the first visit of each chunk, the work unit of a thread; ``batch_ptr`` the first chunk of each
    batch. Planes are found at ``w`` (d,), and ``share`` is the weight of the latest weights in it. ``met`` (1,) is the
    sum of gaps, and ``wrong`` (visits,) marks wrong argmaxes.
    """

    chunk_ptr: IntVector
    batch_ptr: IntVector
    counters: IntVector
    w: Vector
    share: float
    met: Vector
    wrong: IntVector

    @classmethod
    def of(cls, visits: int, n: int, scores: float, values: float, w: Vector, first: bool) -> Self:
        """Plan visits for n examples with these average numbers of scores and values; ``first`` if no planes exist."""
        work = 1.0 + values + VALUES_AN_ARGMAX * scores
        batch = max(1, min((n + _BATCHES // 2) // _BATCHES, max(_ENOUGH, int(_LARGE / work))))
        chunk = max(1, min(batch, int(_CHUNK / work)))
        batch -= batch % chunk
        chunks, batches = -(-visits // chunk), -(-visits // batch)
        few = batch <= _FEW
        later, at_first = (_SHARE_OF_FEW, _FIRST_SHARE_OF_FEW) if few else (_SHARE, _FIRST_SHARE)
        share = 1.0 if batch == 1 else at_first if first else later
        return cls(
            chunk_ptr=np.minimum(np.arange(chunks + 1) * chunk, visits),
            batch_ptr=np.minimum(np.arange(batches + 1) * (batch // chunk), chunks),
            counters=np.zeros(FIRST_DONE + batches, dtype=np.int64),
            w=w.copy(),
            share=share,
            met=np.zeros(1),
            wrong=np.zeros(visits, dtype=np.int64),
        )

    @property
    def threads(self) -> int:
        """Number of useful threads."""
        return int(self.batch_ptr[min(1, len(self.batch_ptr) - 1)])

    def stop(self) -> None:
        """Release threads that wait for other threads."""
        self.counters[STOP] = 1
