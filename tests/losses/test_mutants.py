"""`check_loss` finds mistakes in the code of every shipped argmax."""

from typing import Any

import numpy as np
import pytest

from structsvm.losses import (
    AveragePrecision,
    ChainHamming,
    FBeta,
    GraphHamming,
    JudgedPairs,
    Multiclass,
    MultiLabelHamming,
    PrecisionAtK,
    PrecisionRecallBreakEven,
    PreferencePairs,
    RecallAtK,
    ReciprocalRank,
    ROCArea,
    SwappedPairs,
    WeightedRanks,
    ZeroOne,
)
from structsvm.losses.ndcg import PairwiseNDCG, PositionNDCG, ThresholdNDCG
from tests.losses.mutants import Mutant, is_found, sample

BINARY = [np.array(y, dtype=float) for y in ([0, 1], [1, 0, 0, 1], [0, 0, 1], [1, 0, 1, 0, 1], [0, 1, 0, 0, 0])]
GRADED = [np.array(y, dtype=float) for y in ([0, 2, 1], [1, 0, 0, 3], [2, 1, 0, 1, 0])]
JUDGED = [JudgedPairs(3, [2, 1], [1, 0], [1.0, 3.0]), JudgedPairs(4, [0, 1, 2, 0], [1, 2, 0, 3], [1.0, 2.0, 0.5, 1.0])]
WEIGHTS = [np.array(y) for y in ([0.0, 1.5, 0.3], [2.0, 0.0, 0.5, 1.0])]
COSTS = [[0.0, 1.0, 4.0], [0.5, 0.0, 1.0], [2.0, 0.0, 0.0]]
COSTS_OF_FOUR = [[0.0, 1.0, 4.0, 1.0], [0.5, 0.0, 1.0, 2.0], [2.0, 0.0, 0.0, 1.0], [1.0, 3.0, 0.5, 0.0]]
CHAINS = [list("abc"), list("bb"), list("c"), list("acbb")]
INDICATORS = [[0, 1, 1], [1, 0, 0], [1, 1, 1]]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
GRAPH = GraphHamming("abc", symmetric=True, cost=COSTS)
GRAPHS = GRAPH.examples(
    [(np.ones((len(y), 1)), RING[: len(y) - 1 + len(y) // 4], np.ones((len(y) - 1 + len(y) // 4, 1))) for y in CHAINS],
    CHAINS,
).ys
CASES = [
    (AveragePrecision(), None),
    (ROCArea(relevant_from=2), None),
    (ZeroOne(), [1.0, -1.0]),
    (Multiclass("abc", COSTS), "abc"),
    (ChainHamming("abcde"), CHAINS),
    (ChainHamming("abcd", ends=True, transition_features=True, forbidden=["ca"], cost=COSTS_OF_FOUR), CHAINS),
    (PrecisionAtK(2, truncated=True), None),
    (RecallAtK(2, truncated=True), None),
    (FBeta(2.0), None),
    (PrecisionRecallBreakEven(), None),
    (ReciprocalRank(), BINARY),
    (PairwiseNDCG(discount="letor"), BINARY),
    (PairwiseNDCG(2), BINARY),
    (PositionNDCG(), GRADED),
    (ThresholdNDCG(), [y[:4] for y in GRADED]),
    (SwappedPairs(), None),
    (PreferencePairs(), JUDGED),
    (WeightedRanks(), WEIGHTS),
]
TARGETS = ("kernel", "loss_augmented_argmax")
CASES_OF_TARGETS = [pytest.param(*case, target, id=f"{case[0]!r}, {target}") for case in CASES for target in TARGETS]
KERNELS = [
    (GRAPH, GRAPHS),
    (MultiLabelHamming([(0, 1), (2, 1)], cost=[[0.0, 2.0], [0.5, 0.0]]), INDICATORS),
    (MultiLabelHamming("complete"), INDICATORS),
]
CASES_OF_TARGETS += [pytest.param(*case, "kernel", id=f"{case[0]!r}, kernel") for case in KERNELS]


@pytest.mark.parametrize(("loss", "examples", "target"), CASES_OF_TARGETS)
def test_mistakes_in_an_argmax_are_found(loss: Any, examples: Any, target: str) -> None:
    """Some mutants change nothing, such as the size of a buffer, so two in five may survive."""
    mutants = sample(loss, target, 8)
    survivors = [mutant.title for mutant in mutants if not is_found(loss, mutant, examples)]
    assert len(survivors) <= 0.4 * len(mutants), "\n".join(survivors)


@pytest.mark.parametrize(("loss", "examples", "target"), CASES_OF_TARGETS)
def test_the_same_code_without_a_mistake_is_accepted(loss: Any, examples: Any, target: str) -> None:
    home = sample(loss, target, 1)[0].module
    assert not is_found(loss, Mutant(target, home, None), examples)
