"""Hinges and their gradients, beside the losses of a library for neural rankers."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.harness.data import dense
from benchmarks.harness.measuring import Size, clock
from benchmarks.harness.rows import Row, Target, pick
from structsvm.objectives import Hinge

TITLE = "Hinges as a loss of neural rankers"
ABOUT = """
Values and gradients at random scores of 10,000 documents in 100 queries, about 10 % of them relevant, on one thread:
of a `Hinge`, which is made once for the labels; of the same `Hinge` through PyTorch, forward and backward; and of the
LambdaLoss of allRank (two weighing schemes) and its ApproxNDCG, forward and backward, on the same scores as a padded
table. The losses of allRank sort and weigh all pairs as tensors.
"""

DOCUMENTS, QUERIES = 100, 100
OURS = ("map", "ndcg@10", "roc_area", "mrr", "p@10(truncated=true)", "swapped_pairs")
WHAT = "10,000 scores"


def run(size: Size) -> Iterator[Row]:
    data = dense(max(5, round(QUERIES * size.scale)), DOCUMENTS, 5)
    scores = np.random.default_rng(0).standard_normal(len(data.y))
    of = {loss: Hinge(loss, data.y, data.qid) for loss in OURS}
    for loss in OURS:
        yield _row(f"hinge of {loss}", lambda loss=loss: of[loss](scores), size)
    yield _row("preparing Hinge('map', y, qid)", lambda: Hinge("map", data.y, data.qid), size)
    if find_spec("torch") is None:
        yield Row(what=WHAT, who="PyTorch", note="not installed")
        return
    import torch

    from structsvm.objectives.for_torch import hinge_values

    torch.set_num_threads(1)
    tensor = torch.from_numpy(scores).requires_grad_()

    def differentiated(loss: Callable[[Any], Any]) -> Callable[[], None]:
        def work() -> None:
            tensor.grad = None
            loss(tensor).backward()

        return work

    for name in ("map", "ndcg@10"):
        hinge = of[name]
        work = differentiated(lambda scores, hinge=hinge: hinge_values(scores, hinge).mean())
        yield _row(f"hinge of {name}, through PyTorch", work, size)
    if find_spec("allrank") is None:
        yield Row(what=WHAT, who="allRank", note="not installed")
        return
    try:
        from allrank.models.losses.approxNDCG import approxNDCGLoss
        from allrank.models.losses.lambdaLoss import lambdaLoss
    except ImportError as error:
        yield Row(what=WHAT, who="allRank", note=f"cannot be loaded: {error}")
        return

    labels = torch.from_numpy(data.y).reshape(-1, DOCUMENTS)
    for scheme in ("lambdaRank_scheme", "ndcgLoss2PP_scheme"):
        work = differentiated(
            lambda scores, scheme=scheme: lambdaLoss(
                scores.reshape(labels.shape), labels, weighing_scheme=scheme, reduction="mean"
            )
        )
        yield _row(f"allRank lambdaLoss, {scheme}", work, size)
    work = differentiated(lambda scores: approxNDCGLoss(scores.reshape(labels.shape), labels))
    yield _row("allRank approxNDCGLoss", work, size)


def _row(who: str, work: Callable[[], Any], size: Size) -> Row:
    work()
    work()
    seconds, _ = clock(work, 10 * size.repeats)
    values = {"seconds": float(np.median(seconds)), "fastest": min(seconds)}
    return Row(what=WHAT, who=who, repeats=len(seconds), values=values)


def targets(rows: list[Row]) -> Iterator[Target]:
    seconds = pick(rows, "seconds", what=WHAT, who="hinge of map")
    milliseconds = None if seconds is None else 1000.0 * seconds
    yield Target("hinges of MAP and their gradient, 10,000 scores in 100 queries", 1.0, milliseconds, unit="ms")
