"""Batches of visits: examples whose planes are found at the same weights, by several threads.

Wang, Sadhanala, Dai, Neiswanger, Sra and Xing, "Parallel and Distributed Block-Coordinate Frank-Wolfe Algorithms",
ICML 2016. Where they step along the line to all planes of a batch at once, here one example steps after the other, at
the weights that have come of the steps before, so that each step is the best there is.

Planes that are found at the weights after the last step of the batch before serve less than those that each
example finds after the step of the one before: weights move to and fro with each step. At an average over the
batches before they serve as well (measured: docs/benchmarks.md, "Threads").
"""

from typing import NamedTuple, Self

import numpy as np

from structsvm.compute.blocks import VALUES_AN_ARGMAX
from structsvm.types import IntVector, Matrix, Vector

NEXT, STEPPED, STOP, FIRST_DONE = 0, 8, 16, 24
"""Places of counters: chunks that are taken, batches whose steps are taken, whether to stop, and from there on the
chunks of each batch that are done. What threads wait for is in a cache line of its own."""

_BATCHES = 50
"""Batches in a pass over all examples: fewer take more passes, as planes are found too far from where steps are."""

_LARGE = 1_000_000
"""Feature values that are read for a batch, beyond which it gains nothing from having more than `_ENOUGH` examples."""

_ENOUGH = 32

_CHUNK = 4_000
"""Feature values that a thread reads at least before it looks for more work, some µs."""

_SHARE = 0.4
"""Share of the latest weights in the average at which planes are found."""

_FIRST_SHARE = 0.6
"""The same in a first pass, where weights move one way."""

_FEW = 3
"""Examples in a batch up to which weights move so little in one that more of the latest serve better."""

_SHARE_OF_FEW = 0.6

_FIRST_SHARE_OF_FEW = 0.8


class Batches(NamedTuple):
    """Which examples are visited at the same weights, and how far that has come.

    ``chunk_ptr`` says where in the order of visits each chunk begins, which one thread works on, and ``batch_ptr``
    with which chunk each batch begins; ``w`` (d,) are the weights at which planes are found, and ``share`` that of the
    weights after a batch in them; ``met`` (1,) is the sum of the gaps met, ``wrong`` (visits,) where an argmax was
    seen to be wrong; ``moved`` (chunks of a batch, d) is how the weights have moved with planes that were merged.
    """

    chunk_ptr: IntVector
    batch_ptr: IntVector
    counters: IntVector
    w: Vector
    share: float
    met: Vector
    wrong: IntVector
    moved: Matrix

    @classmethod
    def of(cls, visits: int, n: int, scores: float, values: float, w: Vector, first: bool) -> Self:
        """Plan a number of visits.

        Parameters
        ----------
        visits : how many.
        n : number of examples.
        scores, values : of an example, and feature values that are read for it, on average.
        w : the weights.
        first : whether no planes are kept yet.
        """
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
            moved=np.zeros((batch // chunk, len(w))),
        )

    @property
    def threads(self) -> int:
        """Number of threads that they are of use to."""
        return int(self.batch_ptr[min(1, len(self.batch_ptr) - 1)])

    def stop(self) -> None:
        """Let threads that wait for others wait no longer."""
        self.counters[STOP] = 1
