"""One wrong sign, bound or term in an argmax of an interleaving loss or of NDCG, and check_loss says so."""

from typing import Any

import numpy as np
import pytest

from structsvm.losses import ReciprocalRank
from structsvm.losses.ndcg import PairwiseNDCG, PositionNDCG, ThresholdNDCG
from tests.losses.mutants import Mutant, assert_found, cases

KERNEL, PYTHON = "kernel", "loss_augmented_argmax"
PLACEMENTS = "structsvm.losses.shared.placements"

# What all interleaving losses share is mutated with the loss whose method makes use of it.
RECIPROCAL_RANK = [
    Mutant(KERNEL, "after[i] - before[i]", "after[i]", PLACEMENTS),
    Mutant(KERNEL, "after[i] - before[i] + scale", "after[i] - before[i] - scale", PLACEMENTS),
    Mutant(KERNEL, "(s_bar[j] - s[i])", "(s_bar[j] + s[i])", PLACEMENTS),
    Mutant(KERNEL, "max(ahead[best], j + 1)", "max(ahead[best], j)", PLACEMENTS),
    Mutant(KERNEL, "range(i_high - 1, i_low - 1, -1)", "range(i_high - 1, i_low, -1)", PLACEMENTS),
    Mutant(KERNEL, "j_low, j, i_low, best\n", "j_low, j, best, i_high\n", PLACEMENTS),
    Mutant(KERNEL, "ahead[i] = max(ahead[i], ahead[i - 1])", "ahead[i] = ahead[i]", PLACEMENTS),
    Mutant(KERNEL, "scale = 2.0 / (R * N)", "scale = 1.0 / (R * N)"),
    Mutant(KERNEL, "= -scale * (R - i)", "= scale * (R - i)"),
    Mutant(KERNEL, "= -scale * (R - i)", "= -scale * (R - i - 1)"),
    Mutant(KERNEL, "loss += costs[", "loss = costs["),
    Mutant(KERNEL, "s = scores[relevant] - mean", "s = scores[relevant]"),
    Mutant(PYTHON, "+ costs[k] +", "+"),
    Mutant(PYTHON, "+ costs[k] +", "- costs[k] +"),
    Mutant(PYTHON, "2.0 / (R * N) * (passed", "(passed"),
    Mutant(PYTHON, "(passed - j * s[k])", "(passed + j * s[k])"),
    Mutant(PYTHON, "places = np.arange(R) + ahead", "places = np.arange(R) + np.minimum(ahead, N - 1)"),
    Mutant(PYTHON, "ahead[-1] = np.argmax(value)", "ahead[-1] = np.argmin(value)"),
]

LETOR_NDCG = [
    Mutant(KERNEL, "before + row[k]", "row[k]", PLACEMENTS),
    Mutant(KERNEL, "+ row[k] + scale", "+ row[k] - scale", PLACEMENTS),
    Mutant(KERNEL, "(total - j * s[k])", "(total - s[k])", PLACEMENTS),
    Mutant(KERNEL, "total += s_bar[j - 1]", "total = s_bar[j - 1]", PLACEMENTS),
    Mutant(KERNEL, "range(min(columns, depth - j))", "range(min(columns, depth - j) - (j > 0))", PLACEMENTS),
    Mutant(KERNEL, "value > best[k]", "value < best[k]", PLACEMENTS),
    Mutant(KERNEL, "before = best[k]", "before = value", PLACEMENTS),
    Mutant(KERNEL, "            mark[k] = True", "            mark[k] = j != 1", PLACEMENTS),
    Mutant(PYTHON, "best = np.maximum.accumulate(value)", "best = value"),
    Mutant(PYTHON, "np.where(value == best, j, 0)", "j"),
    Mutant(PYTHON, "ahead[k - 1] = origin[k, ahead[k]]", "ahead[k - 1] = ahead[k]"),
    Mutant(PYTHON, "np.concatenate([[0.0], np.cumsum(s_bar)])", "np.concatenate([np.cumsum(s_bar), [0.0]])"),
    Mutant(PYTHON, "origin[k, ahead[k]]", "origin[k - 1, ahead[k]]"),
]

NDCG_AT_K = [
    Mutant(KERNEL, "least = cutoff - p\n", "least = cutoff - p - 1\n", PLACEMENTS),
    Mutant(KERNEL, "s_bar[j] > s[k]", "s_bar[j] < s[k]", PLACEMENTS),
    Mutant(KERNEL, "value = beyond + free[q] +", "value = free[q] +", PLACEMENTS),
    Mutant(KERNEL, "beyond + free[q] +", "beyond +", PLACEMENTS),
    Mutant(KERNEL, "(q - p) * others[least] - least", "least", PLACEMENTS),
    Mutant(KERNEL, "free[q] + scale *", "free[q] - scale *", PLACEMENTS),
    Mutant(KERNEL, "value += best[p - 1]", "value += 0.0", PLACEMENTS),
    Mutant(KERNEL, "max(0, cutoff - N) - 1, -1)", "max(0, cutoff - N), -1)", PLACEMENTS),
    Mutant(KERNEL, "ahead[k] = max(ahead[k], least)", "ahead[k] = least", PLACEMENTS),
    Mutant(KERNEL, "q = max(first, p)", "q = p", PLACEMENTS),
    Mutant(KERNEL, "others[ahead[k]] - ahead[k] * s[k]", "others[ahead[k]]", PLACEMENTS),
    Mutant(KERNEL, "min(ahead[i], most) * columns", "min(ahead[i], most - 1) * columns"),
]

POSITION = [
    Mutant(KERNEL, "scores - gain)", "scores + gain)"),
    Mutant(KERNEL, "scores - gain)", "scores)"),
    Mutant(KERNEL, "gain = labels[n:]", "gain = labels[:n]"),
    Mutant(KERNEL, "loss -= gain[document]", "loss += gain[document]"),
    Mutant(KERNEL, "loss = 1.0", "loss = 0.0"),
    Mutant(KERNEL, "labels[document] - discounts[rank]", "labels[document] + discounts[rank]"),
    Mutant(KERNEL, "labels[document] - discounts[rank]", "discounts[rank] - labels[document]"),
    Mutant(PYTHON, "scores - self._shares(y)", "scores + self._shares(y)"),
    Mutant(PYTHON, "scores - self._shares(y)", "scores"),
    Mutant(PYTHON, "scores - self._shares(y)", "scores - 2 * self._shares(y)"),
    Mutant(PYTHON, "scores - self._shares(y)", "-self._shares(y)"),
    Mutant(PYTHON, "ranking[order] = -np.arange", "ranking[order] = np.arange"),
    Mutant(PYTHON, "ranking[order] = -np.arange(len(order))", "ranking = -order.astype(float)"),
]

THRESHOLDS = [
    Mutant(KERNEL, "T = len(labels) - n", "T = 1"),
    Mutant(KERNEL, "level = labels[T:]", "level = labels[:n]"),
    Mutant(KERNEL, "level[document] > t", "level[document] >= t"),
    Mutant(KERNEL, "level[document] > t", "level[document] == t + 1"),
    Mutant(KERNEL, "weight = labels[t]", "weight = labels[0]"),
    Mutant(KERNEL, "weight = labels[t]", "weight = 1.0"),
    Mutant(KERNEL, "loss += weight * _interleaving", "loss = weight * _interleaving"),
    Mutant(KERNEL, "loss += weight * _interleaving", "loss += _interleaving"),
    Mutant(KERNEL, "out[document] += weight * part[document]", "out[document] = weight * part[document]"),
    Mutant(KERNEL, "out[document] += weight * part[document]", "out[document] += part[document]"),
    Mutant(KERNEL, "out[document] += weight * part[document]", "out[document] -= weight * part[document]"),
    Mutant(PYTHON, "(scores, relevant) for relevant in reached", "(scores, reached[0]) for relevant in reached"),
    Mutant(PYTHON, "(scores, relevant) for relevant in reached", "(scores, reached[-1]) for relevant in reached"),
    Mutant(PYTHON, "(scores, relevant) for relevant in reached", "(-scores, relevant) for relevant in reached"),
    Mutant(PYTHON, "(scores, relevant) for relevant in reached", "(scores, relevant) for relevant in reached[::-1]"),
    Mutant(PYTHON, "np.reshape(rankings, reached.shape)", "np.mean(rankings, axis=0)"),
    Mutant(PYTHON, "np.reshape(rankings, reached.shape)", "rankings[0]"),
]

BINARY = [np.array(y, dtype=float) for y in ([0, 1], [1, 0, 0, 1], [0, 0, 1], [1, 0, 1, 0, 1], [0, 1, 0, 0, 0])]
GRADED = [np.array(y, dtype=float) for y in ([0, 2, 1], [1, 0, 0, 3], [2, 1, 0, 1, 0])]
CASES = [
    *cases(ReciprocalRank(), RECIPROCAL_RANK, BINARY),
    *cases(PairwiseNDCG(discount="letor"), LETOR_NDCG, BINARY),
    *cases(PairwiseNDCG(2), NDCG_AT_K, BINARY),
    *cases(PositionNDCG(), POSITION, GRADED),
    *cases(ThresholdNDCG(), THRESHOLDS, [y[:4] for y in GRADED]),
]


@pytest.mark.parametrize(("loss", "mutant", "examples"), CASES)
def test_mutants_of_the_argmax_are_found(loss: Any, mutant: Mutant, examples: Any) -> None:
    assert_found(mutant, loss, examples)
