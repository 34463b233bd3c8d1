"""One wrong sign, bound or term in what selects documents or classes, and check_loss says so."""

from typing import Any

import pytest

from structsvm.losses import FBeta, Multiclass, PrecisionRecallBreakEven
from structsvm.losses.precision_at_k import TruncatedPrecision
from structsvm.losses.recall_at_k import TruncatedRecall
from tests.losses.mutants import Mutant, assert_found, cases

KERNEL, PYTHON = "kernel", "loss_augmented_argmax"
TOP_K = "structsvm.losses.shared.top_k"

AT_K = [
    Mutant(KERNEL, "scale * (passed + passing) >= cost", "scale * (passed + passing) < cost", TOP_K),
    Mutant(KERNEL, "scale * (passed + passing) >= cost", "scale * passed >= cost", TOP_K),
    Mutant(KERNEL, "scale * (passed + passing) >= cost", "scale * passing >= cost", TOP_K),
    Mutant(KERNEL, "scale * (passed + passing) >= cost", "passed + passing >= cost", TOP_K),
    Mutant(KERNEL, "relevant[hits - 1]", "relevant[0]", TOP_K),
    Mutant(KERNEL, "(others + 1 - first) * out_score", "(others - first) * out_score", TOP_K),
    Mutant(KERNEL, "depth = min(k, n)", "depth = min(k + 1, n)", TOP_K),
    Mutant(KERNEL, "others_before[i] = j", "others_before[i] = 0", TOP_K),
    Mutant(KERNEL, "= -scale * relevant_behind", "= scale * relevant_behind", TOP_K),
    Mutant(KERNEL, "(min(k, R) - hits)", "(R - hits)", TOP_K),
    Mutant(PYTHON, "number <= np.where(relevant, hits", "number < np.where(relevant, hits"),
    Mutant(PYTHON, "depth = min(self.k, R + N)", "depth = min(self.k, R)"),
    Mutant(PYTHON, "order[~top]])] = np.arange", "order[~top]])] = -np.arange"),
    Mutant(PYTHON, "min(depth, R) + 1)", "max(min(depth, R), depth - N + 1))"),
    Mutant(PYTHON, "range(max(0, depth - N), ", "range(min(max(1, depth - N), depth, R), "),
    Mutant(PYTHON, "self.loss(y, y_hat) + float", "float"),
    Mutant(PYTHON, "self.loss(y, y_hat) + float", "self.loss(y, y_hat) - float"),
    Mutant(PYTHON, "return max(rankings", "return min(rankings"),
]
PRECISION = [
    *AT_K,
    Mutant(KERNEL, "1.0 / k[0]", "1.0"),
    Mutant(KERNEL, "int(k[0])", "int(k[0]) + 1"),
]
RECALL = [
    *AT_K,
    Mutant(KERNEL, "1.0 / max(R, 1), out", "1.0 / k[0], out"),
    Mutant(KERNEL, "R += 1", "R += 2"),
]
F_BETA = [
    Mutant(KERNEL, "bring = 2.0 *", "bring = "),
    Mutant(KERNEL, "bring += tp / wider - tp /", "bring -= tp / wider - tp /"),
    Mutant(KERNEL, "        if R == 0:\n            low = max(low, 1)\n", ""),
    Mutant(KERNEL, "wrong) / (size + wrong)", "wrong) / size"),
    Mutant(KERNEL, "gain += 2.0 * scores[relevant[tp - 1]]", "gain += scores[relevant[tp - 1]]"),
    Mutant(KERNEL, "range(R + 1)", "range(R)"),
    Mutant(KERNEL, "high = fp\n", "high = max(fp - 1, low)\n"),
    Mutant(KERNEL, "value = loss + gain", "value = gain"),
    Mutant(KERNEL, "out[other[j]] = -2.0", "out[other[j]] = 2.0"),
    Mutant(PYTHON, "np.argsort(-scores[true])", "np.argsort(scores[true])"),
    Mutant(PYTHON, "np.argsort(-scores[false])", "np.argsort(scores[false])"),
    Mutant(PYTHON, "np.cumsum(2.0 * scores[kind])", "np.cumsum(scores[kind])"),
    Mutant(PYTHON, "range(len(true) + 1)", "range(len(true))"),
    Mutant(PYTHON, " + gain_true[tp] + gain_false", " + gain_true[tp]"),
    Mutant(PYTHON, "self._loss(len(true), tp, fp) + gain_true", "gain_true"),
    Mutant(PYTHON, "true[:tp]] = ", "true[: tp + 1]] = "),
]
BREAK_EVEN = [
    Mutant(KERNEL, "1.0 / R + 2.0", "1.0 / N + 2.0"),
    Mutant(KERNEL, "1.0 / R + 2.0", "2.0"),
    Mutant(KERNEL, "1.0 / R + 2.0", "1.0 / R - 2.0"),
    Mutant(KERNEL, "scores[relevant[R - 1 - missed]]", "scores[relevant[missed]]"),
    Mutant(KERNEL, "return missed / max(R, 1)", "return 2.0 * missed / max(R, 1)"),
    Mutant(KERNEL, "missed < min(R, N)", "missed < min(R, N) - 1"),
    Mutant(KERNEL, "out[other[missed]] = -2.0", "out[other[missed]] = 2.0"),
    Mutant(PYTHON, "1.0 / max(len(true), 1) + 2.0", "1.0 / max(len(true), 1) + 1.0"),
    Mutant(PYTHON, "1.0 / max(len(true), 1) + 2.0", "2.0"),
    Mutant(PYTHON, "np.argsort(scores[true])", "np.argsort(-scores[true])"),
    Mutant(PYTHON, "np.argsort(-scores[false])", "np.argsort(scores[false])"),
    Mutant(PYTHON, "exchanged = int(pays.sum())", "exchanged = max(int(pays.sum()) - 1, 0)"),
    Mutant(PYTHON, "(scores[false[:exchanges]] - scores[true", "(scores[false[:exchanges]] + scores[true"),
]
COSTS = [
    Mutant(KERNEL, "costs[truth * K + k]", "costs[k * K + truth]"),
    Mutant(KERNEL, "costs[truth * K + k]", "1.0"),
    Mutant(KERNEL, "scores[k] + cost > best_value", "scores[k] > best_value"),
    Mutant(KERNEL, "best_value = scores[k] + cost", "best_value = scores[k] + 1.0"),
    Mutant(KERNEL, "            best_cost = cost\n", ""),
    Mutant(KERNEL, "return best_cost", "return -best_cost"),
    Mutant(PYTHON, "np.array(self.cost[truth])", "np.array(self.cost)[:, truth]"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmax(scores - cost)"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmax(scores + 2 * cost)"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmax(cost)"),
    Mutant(PYTHON, "np.array(self.cost[truth])", "np.array(self.cost[truth - 1])"),
]

CASES = [
    *cases(TruncatedPrecision(2), PRECISION),
    *cases(TruncatedRecall(2), RECALL),
    *cases(FBeta(2.0), F_BETA),
    *cases(PrecisionRecallBreakEven(), BREAK_EVEN),
    *cases(Multiclass("abc", [[0.0, 1.0, 4.0], [0.5, 0.0, 1.0], [2.0, 0.0, 0.0]]), COSTS, "abc"),
]


@pytest.mark.parametrize(("loss", "mutant", "examples"), CASES)
def test_mutants_of_the_argmax_are_found(loss: Any, mutant: Mutant, examples: Any) -> None:
    assert_found(mutant, loss, examples)
