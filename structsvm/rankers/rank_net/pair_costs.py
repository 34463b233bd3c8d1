"""The cost of the pairs of documents of one query: RankNet's cross entropy."""

import math

from structsvm.compute.compilation import compiled
from structsvm.types import IntVector, Vector

# With o = s_i − s_j and the probability p with which i shall be ahead, the cost of a pair is log(1 + e^o) − p·o (Burges
# et al. 2005, section 3), and its derivative 1/(1 + e^−o) − p; neither overflows in terms of e^−|o|.


def _cost_of_grades(scores: Vector, grades: Vector, log_odds: float, ties: bool, slopes: Vector) -> float:
    n = len(scores)
    slopes[:] = 0.0
    cost, pairs = 0.0, 0
    known, target = 0.0, 0.5
    for i in range(n):
        for j in range(n):
            difference = grades[i] - grades[j]
            if difference < 0.0 or (difference == 0.0 and (not ties or j <= i)):
                continue
            if difference != known:
                known = difference
                target = 1.0 / (1.0 + math.exp(-difference * log_odds)) if difference > 0.0 else 0.5
            margin = scores[i] - scores[j]
            small = math.exp(-abs(margin))
            cost += max(margin, 0.0) + math.log1p(small) - target * margin
            slope = (1.0 if margin > 0.0 else small) / (1.0 + small) - target
            slopes[i] += slope
            slopes[j] -= slope
            pairs += 1
    if pairs > 0:
        slopes /= pairs
        cost /= pairs
    return cost


def _cost_of_pairs(scores: Vector, better: IntVector, worse: IntVector, targets: Vector, slopes: Vector) -> float:
    slopes[:] = 0.0
    cost, pairs = 0.0, len(better)
    for pair in range(pairs):
        i, j = better[pair], worse[pair]
        margin = scores[i] - scores[j]
        small = math.exp(-abs(margin))
        cost += max(margin, 0.0) + math.log1p(small) - targets[pair] * margin
        slope = (1.0 if margin > 0.0 else small) / (1.0 + small) - targets[pair]
        slopes[i] += slope
        slopes[j] -= slope
    if pairs > 0:
        slopes /= pairs
        cost /= pairs
    return cost


cost_of_grades = compiled(_cost_of_grades)
"""Return the mean cost of all pairs of different grades, of those of equal grades too with ``ties``, and write its
derivative with respect to each score into ``slopes``: the sums λ of Burges (2010), section 2.1. The documents of a pair
shall have a difference of scores of ``log_odds`` for each unit of difference of grades; infinity is allowed. Pairs take
no memory."""

cost_of_pairs = compiled(_cost_of_pairs)
"""Return the mean cost of listed pairs, ``targets`` being the probabilities that are aimed at, and write ``slopes``."""
