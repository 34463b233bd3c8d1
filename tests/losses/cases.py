"""The built-in losses: one table for the campaign and for the tests of mutants, optima and hinges."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from attrs import frozen

from structsvm.losses import (
    AveragePrecision,
    ChainHamming,
    FBeta,
    GraphHamming,
    JudgedPairs,
    Multiclass,
    MultiLabelHamming,
    NDCGLoss,
    PrecisionAtK,
    PrecisionRecallBreakEven,
    PreferencePairs,
    RecallAtK,
    ReciprocalRank,
    ROCArea,
    SlackRescaled,
    SwappedPairs,
    WeightedRanks,
    ZeroOne,
)
from structsvm.losses.ndcg import PairwiseNDCG, PositionNDCG, ThresholdNDCG
from tests.small_problems import PlainROCArea

MUTANTS, OPTIMUM, HINGE = "mutants", "optimum", "hinge"
BOTH = ("kernel", "loss_augmented_argmax")


@frozen(eq=False)
class LossCase:
    """A loss, and the tests that use it.

    Parameters
    ----------
    loss : the loss.
    tests : `MUTANTS` (`check_loss` finds mistakes in its code), `OPTIMUM` (an independent QP over all outputs has the
        same optimum) and `HINGE` (gradients equal finite differences).
    documents : the most documents of which the campaign lists all outputs; 0: the campaign does not draw the loss.
    outputs : true outputs. None: queries with grades.
    sizes : number of scores of each output, for `HINGE`.
    targets : methods whose code `MUTANTS` changes.
    """

    loss: Any
    tests: Sequence[str] = (MUTANTS, OPTIMUM, HINGE)
    documents: int = 0
    outputs: Any = None
    sizes: Any = None
    targets: Sequence[str] = BOTH


BINARY = [np.array(y, dtype=float) for y in ([0, 1], [1, 0, 0, 1], [0, 0, 1], [1, 0, 1, 0, 1], [0, 1, 0, 0, 0])]
GRADED = [np.array(y, dtype=float) for y in ([0, 2, 1], [1, 0, 0, 3], [2, 1, 0, 1, 0])]
JUDGED = [JudgedPairs(3, [2, 1], [1, 0], [1.0, 3.0]), JudgedPairs(4, [0, 1, 2, 0], [1, 2, 0, 3], [1.0, 2.0, 0.5, 1.0])]
WEIGHTS = [np.array(y) for y in ([0.0, 1.5, 0.3], [2.0, 0.0, 0.5, 1.0])]
COSTS = [[0.0, 1.0, 4.0], [0.5, 0.0, 1.0], [2.0, 0.0, 0.0]]
COSTS_OF_FOUR = [[0.0, 1.0, 4.0, 1.0], [0.5, 0.0, 1.0, 2.0], [2.0, 0.0, 0.0, 1.0], [1.0, 3.0, 0.5, 0.0]]
CHAINS = [list("abc"), list("bb"), list("c"), list("acbb")]
INDICATORS = [[0, 1, 1], [1, 0, 0], [1, 1, 1]]
PAIRS = [JudgedPairs(3, [0, 2], [1, 1], [1.0, 2.0]), JudgedPairs(2, [1], [0], [5.0])]
RING = [[0, 1], [1, 2], [2, 3], [3, 0]]
GRAPH = GraphHamming("abc", symmetric=True, cost=COSTS)
MASKS = [np.array([[state in (label, "b") for state in "abc"] for label in y]) for y in CHAINS]
GRAPHS = GRAPH.examples(
    [
        (
            np.ones((len(y), 1)),
            RING[: len(y) - 1 + len(y) // 4],
            np.ones((len(y) - 1 + len(y) // 4, 1)),
            *([mask] if len(y) > 2 else []),
        )
        for y, mask in zip(CHAINS, MASKS, strict=True)
    ],
    CHAINS,
).ys
MASKED_CHAIN = ChainHamming("abc", ends=True, forbidden=["ca"])
MASKED_CHAINS = MASKED_CHAIN.examples([(np.ones((len(mask), 1)), mask) for mask in MASKS], CHAINS).ys

CASES = [
    LossCase(AveragePrecision(), documents=5),
    LossCase(AveragePrecision(relevant_from=2), [HINGE], 5),
    LossCase(ROCArea(), [OPTIMUM, HINGE], 5),
    LossCase(PlainROCArea(), [], 5),
    LossCase(NDCGLoss(encoding="pairwise"), [HINGE], 5),
    LossCase(NDCGLoss(2, encoding="pairwise", truncated=True), [OPTIMUM], 5),
    LossCase(NDCGLoss(discount="letor", encoding="pairwise"), [OPTIMUM], 5),
    LossCase(NDCGLoss(encoding="thresholds"), [OPTIMUM], 3),
    LossCase(NDCGLoss(2, discount="letor", encoding="thresholds", truncated=True), [OPTIMUM], 3),
    LossCase(NDCGLoss(encoding="position"), [OPTIMUM, HINGE], 4),
    LossCase(NDCGLoss(1, gain="linear", encoding="position", truncated=True), [OPTIMUM], 4),
    LossCase(ReciprocalRank(), documents=5, outputs=BINARY),
    LossCase(PrecisionAtK(1, truncated=True), [OPTIMUM], 5),
    LossCase(PrecisionAtK(3, truncated=True), [OPTIMUM], 5),
    LossCase(RecallAtK(2, truncated=True), documents=5),
    LossCase(FBeta(), [OPTIMUM, HINGE], 6),
    LossCase(FBeta(2.0), [MUTANTS, OPTIMUM], 6),
    LossCase(PrecisionRecallBreakEven(), documents=6),
    LossCase(SwappedPairs(), documents=4),
    LossCase(ROCArea(relevant_from=2), [MUTANTS]),
    LossCase(PairwiseNDCG(discount="letor"), [MUTANTS], outputs=BINARY),
    LossCase(PairwiseNDCG(2), [MUTANTS], outputs=BINARY),
    LossCase(PositionNDCG(), [MUTANTS], outputs=GRADED),
    LossCase(ThresholdNDCG(), [MUTANTS], outputs=[y[:4] for y in GRADED]),
    LossCase(NDCGLoss(), [HINGE]),
    LossCase(NDCGLoss(2, truncated=True), [HINGE]),
    LossCase(NDCGLoss(2, encoding="thresholds"), [OPTIMUM]),
    LossCase(PrecisionAtK(1), [HINGE]),
    LossCase(PrecisionAtK(1, relevant_from=2), [OPTIMUM]),
    LossCase(PrecisionAtK(2, truncated=True), [MUTANTS, HINGE]),
    LossCase(PrecisionAtK(3, relevant_from=2, truncated=True), [OPTIMUM]),
    LossCase(RecallAtK(2), [HINGE]),
    LossCase(RecallAtK(9, truncated=True), [OPTIMUM]),
    LossCase(FBeta(0.5, relevant_from=2), [OPTIMUM]),
    LossCase(FBeta(2.0, relevant_from=2), [HINGE]),
    LossCase(WeightedRanks(), [MUTANTS], outputs=WEIGHTS),
    LossCase(WeightedRanks(), [OPTIMUM, HINGE]),
    LossCase(SlackRescaled(ROCArea()), [HINGE]),
    LossCase(ZeroOne(), [MUTANTS], outputs=[1.0, -1.0]),
    LossCase(ZeroOne(), [HINGE], outputs=[1.0, 0.0, 1.0], sizes=[1, 1, 1]),
    LossCase(Multiclass("abc", COSTS), [MUTANTS], outputs="abc"),
    LossCase(Multiclass(), [HINGE], outputs=["b", "a", "c", "a"], sizes=[3, 3, 3, 3]),
    LossCase(Multiclass(cost=COSTS), [HINGE], outputs=[0, 1, 2], sizes=[3, 3, 3]),
    LossCase(ChainHamming("abcde"), [MUTANTS], outputs=CHAINS),
    LossCase(
        ChainHamming("abcd", ends=True, transition_features=True, forbidden=["ca"], cost=COSTS_OF_FOUR),
        [MUTANTS],
        outputs=CHAINS,
    ),
    LossCase(MASKED_CHAIN, [MUTANTS], outputs=MASKED_CHAINS),
    LossCase(ChainHamming(), [HINGE], outputs=[[0, 1, 1], [1], [0, 0]], sizes=[10, 6, 8]),
    LossCase(GRAPH, [MUTANTS], outputs=GRAPHS, targets=("kernel",)),
    LossCase(
        MultiLabelHamming([(0, 1), (2, 1)], cost=[[0.0, 2.0], [0.5, 0.0]]),
        [MUTANTS],
        outputs=INDICATORS,
        targets=("kernel",),
    ),
    LossCase(MultiLabelHamming("complete"), [MUTANTS], outputs=INDICATORS, targets=("kernel",)),
    LossCase(MultiLabelHamming(), [HINGE], outputs=[[0, 1], [1, 1]], sizes=[2, 2]),
    LossCase(MultiLabelHamming("complete", average=False), [HINGE], outputs=[[0, 1, 1], [1, 0, 0]], sizes=[15, 15]),
    LossCase(PreferencePairs(), [MUTANTS], outputs=JUDGED),
    LossCase(PreferencePairs(), [HINGE], outputs=PAIRS, sizes=[3, 2]),
]


def cases_of(test: str) -> list[LossCase]:
    """Return the cases of a test."""
    return [case for case in CASES if test in case.tests]
