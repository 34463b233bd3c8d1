"""Finite scores for maximizers that subtract scores, which −inf of forbidden parts would turn into NaN."""

import numpy as np

from structsvm.foundation.compute.compilation import compiled_part
from structsvm.foundation.types import Vector


@compiled_part
def finite_scores(scores: Vector, parts: int) -> Vector:
    """Copy scores, and replace −inf by a number so low that all outputs of ``parts`` parts without it are better."""
    lowest, highest = np.inf, -np.inf
    for score in scores:
        if score > -np.inf:
            lowest, highest = min(lowest, score), max(highest, score)
    forbidden = 0.0
    if highest > -np.inf:
        margin = max(abs(lowest), abs(highest))
        forbidden = lowest - parts * (highest - lowest) - (margin if margin > 0.0 else 1.0)
    finite = np.empty(len(scores))
    for part in range(len(scores)):
        finite[part] = scores[part] if scores[part] > -np.inf else forbidden
    return finite
