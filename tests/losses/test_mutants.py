"""One wrong sign, bound or term in an argmax of a shipped loss, and check_loss says so."""

from typing import Any

import pytest
from attrs import evolve

from structsvm.losses import AveragePrecision, Multiclass, ROCArea, ZeroOne
from tests.losses.mutants import Mutant, assert_found, cases, mutated

KERNEL, PYTHON = "kernel", "loss_augmented_argmax"

AVERAGE_PRECISION = [
    Mutant(KERNEL, " - harmonic[j + i - 1]", ""),
    Mutant(KERNEL, " * denominator - j * passed", " * denominator"),
    Mutant(KERNEL, "half * gain > ", "gain > "),
    Mutant(KERNEL, "half = 0.5 * N", "half = N"),
    Mutant(KERNEL, "(lead - passed * scores[", "(lead - scores["),
    Mutant(KERNEL, "passed, lead = t - i,", "passed, lead = 1,"),
    Mutant(KERNEL, "below[i] - below[t]", "below[i]"),
    Mutant(KERNEL, "scores[other[j - 1]]", "scores[other[first]]"),
    Mutant(KERNEL, "left = step - 1", "left = 0"),
    Mutant(KERNEL, "step = left = last - first ", "step = left = last - first - 1 "),
    Mutant(KERNEL, "best[depth], end[depth] = i, first", "best[depth], end[depth] = i + 1, first"),
    Mutant(KERNEL, "loss += j / (k + 1 + j)", "loss += j / (k + j + 2)"),
    Mutant(KERNEL, "= -scale * (R - i)", "= scale * (R - i)"),
    Mutant(PYTHON, "(j / (j + k) - (j - 1)", "(j / (j + k) - j"),
    Mutant(PYTHON, "/ R - 2 *", "/ R + 2 *"),
    Mutant(PYTHON, "(s[:, None] - s_bar) / (R * N)", "(s[:, None] - s_bar)"),
    Mutant(PYTHON, " - (j - 1) / (j + k - 1)", ""),
    Mutant(PYTHON, "np.cumsum(step[::-1], axis=0)[::-1]", "np.cumsum(step, axis=0)"),
    Mutant(PYTHON, "0.5 - first_passed", "1.5 - first_passed"),
    Mutant(PYTHON, "first_passed = R - np.argmax", "first_passed = R - 1 - np.argmax"),
]

ROC_AREA = [
    Mutant(KERNEL, "(-0.25 if relevant else 0.25)", "(0.25 if relevant else 0.25)"),
    Mutant(KERNEL, "(-0.25 if relevant else 0.25)", "(-0.25 if relevant else 0.0)"),
    Mutant(KERNEL, "others_ahead += not relevant", "others_ahead += 2 * (not relevant)"),
    Mutant(KERNEL, "relevant_behind = R\n", "relevant_behind = R - 1\n"),
    Mutant(KERNEL, "else -relevant_behind", "else relevant_behind"),
    Mutant(KERNEL, "swapped += others_ahead", "swapped = others_ahead"),
    Mutant(KERNEL, "0.5 * scale * swapped", "scale * swapped"),
    Mutant(PYTHON, "-0.25, 0.25", "0.25, -0.25"),
    Mutant(PYTHON, "-0.25, 0.25", "-0.5, 0.5"),
    Mutant(PYTHON, "-0.25, 0.25", "-0.25, 0.0"),
    Mutant(PYTHON, "return scores + np.where", "return -scores + np.where"),
    Mutant(PYTHON, "return scores + np.where", "return 2 * scores + np.where"),
]

ZERO_ONE = [
    Mutant(KERNEL, "labels[0] * scores[0] < 1.0", "labels[0] * scores[0] < 0.0"),
    Mutant(KERNEL, "labels[0] * scores[0] < 1.0", "labels[0] * scores[0] > 1.0"),
    Mutant(KERNEL, "labels[0] * scores[0]", "scores[0]"),
    Mutant(KERNEL, "out[0] = labels[0]", "out[0] = -labels[0]"),
    Mutant(KERNEL, "out[0] = labels[0]", "out[0] = 0.5 * labels[0]"),
    Mutant(KERNEL, "return 1.0\n    out", "return 2.0\n    out"),
    Mutant(PYTHON, "sign * scores[0] < 1.0", "sign * scores[0] < 0.0"),
    Mutant(PYTHON, "sign * scores[0] < 1.0", "sign * scores[0] < 2.0"),
    Mutant(PYTHON, "return -sign if sign *", "return -sign if -sign *"),
    Mutant(PYTHON, "return -sign if sign * scores[0] < 1.0 else sign", "return -sign"),
    Mutant(PYTHON, "return -sign if sign * scores[0]", "return -sign if scores[0]"),
]

MULTICLASS = [
    Mutant(KERNEL, "if k == truth:", "if k == 0:"),
    Mutant(KERNEL, "cost = 1.0 if", "cost = 0.0 if"),
    Mutant(KERNEL, "best_value = scores[k] + cost", "best_value = scores[k]"),
    Mutant(KERNEL, "for k in range(K):", "for k in range(K - 1):"),
    Mutant(KERNEL, "out[best] = -1.0", "out[best] = 1.0"),
    Mutant(KERNEL, "        out[truth] = 1.0\n", ""),
    Mutant(PYTHON, "!= truth if", "== truth if"),
    Mutant(PYTHON, "!= truth if", "!= truth - 1 if"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmin(scores + cost)"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmax(scores)"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmax(cost - scores)"),
    Mutant(PYTHON, "np.argmax(scores + cost)", "np.argmax(2 * scores + cost)"),
]

CASES = [
    *cases(AveragePrecision(), AVERAGE_PRECISION),
    *cases(ROCArea(relevant_from=2), ROC_AREA),
    *cases(ZeroOne(), ZERO_ONE, [1.0, -1.0]),
    *cases(Multiclass(classes="abcd"), MULTICLASS, "abcd"),
]


@pytest.mark.parametrize(("loss", "mutant", "examples"), CASES)
def test_mutants_of_the_argmax_are_found(loss: Any, mutant: Mutant, examples: Any) -> None:
    assert_found(mutant, loss, examples)


def test_a_replacement_of_text_that_is_not_there_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'no such text' occurs 0 times in structsvm.losses.roc_area"):
        mutated(ROCArea(), Mutant(PYTHON, "no such text", ""))
    with pytest.raises(ValueError, match=r"'scores' occurs \d+ times in structsvm.losses.roc_area"):
        mutated(ROCArea(), Mutant(KERNEL, "scores", "scores"))


def test_a_mutant_that_survives_or_does_not_run_is_told() -> None:
    harmless = Mutant(KERNEL, "relevant_behind = R\n", "relevant_behind = 1 * R\n")
    with pytest.raises(AssertionError, match="check_loss does not find kernel: relevant_behind = R"):
        assert_found(harmless, ROCArea())
    with pytest.raises(AssertionError, match="does not run: Mutant.loss_augmented_argmax raised NameError"):
        assert_found(Mutant(PYTHON, "-0.25, 0.25", "typo, 0.25"), ROCArea())


SORTING = "structsvm.compute.sorting"


def test_a_mistake_can_be_in_a_module_that_the_kernel_imports_from() -> None:
    ascending = Mutant(KERNEL, "scores[order[j - 1]] < score", "scores[order[j - 1]] > score", SORTING)
    assert_found(ascending, ROCArea())
    assert_found(evolve(ascending, new=ascending.old), ROCArea())
