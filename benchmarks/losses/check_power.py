"""Share of the mistakes in argmaxes that `check_loss` finds."""

import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from typing import Any
from unittest.mock import patch

import attrs
import numpy as np

from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target
from benchmarks.losses.users_losses import USERS
from structsvm.exceptions import CheckError
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import (
    ChainHamming,
    JudgedPairs,
    Loss,
    Multiclass,
    PreferencePairs,
    ROCArea,
    ScoreLoss,
    SlackRescaled,
    WeightedRanks,
    ZeroOne,
)
from structsvm.problem.program import plain_function
from structsvm.registry import losses
from structsvm.testing import check_loss

TITLE = "The power of `check_loss`"
ABOUT = """
Mistakes put into the loss-augmented argmax of every shipped loss, and of losses of the pages and others that users
write (`benchmarks/users_losses.py`), each checked with 20 seeds; the share that `check_loss` finds. First Δ times a
factor. Then five other mistakes: a bonus of 5 % of the largest Δ for the truth; one score, or weight, times 0.95; the
outputs of the largest Δ never returned; scores rounded to a fiftieth of the largest (not with a single score); any
output within 1 % of the largest Δ from the maximum, the worst of them. Compiled kernels get the factors, the score and
the rounding. Losses of queries are checked on three random queries of three or four documents, fewer than by default.
"false alarms" counts rejected checks of correct losses. Seconds are the time of one check with default settings, warm.
"""

FACTORS = (0.5, 0.7, 0.9, 0.95, 0.99)
SEEDS = 20
PROCESSES = 2

_WEIGHTED = [np.array(weights) for weights in ([2.0, 0.0, 0.5], [0.0, 3.0, 0.0, 0.0])]
_JUDGED = [JudgedPairs(3, [0, 2], [1, 1], [1.0, 2.0]), JudgedPairs(4, [0, 1, 0, 3], [1, 0, 2, 2], [1.0, 0.5, 2.0, 1.0])]
_CHAINS = [np.array(list(word)) for word in ("ab", "bba", "abca")]


def shipped() -> dict[str, tuple[Any, Any]]:
    """Return the losses of the library, with examples if they need some."""
    found: dict[str, tuple[Any, Any]] = {
        "zero_one": (ZeroOne(), [1.0, -1.0]),
        "multiclass": (Multiclass(classes=range(4)), range(4)),
        "multiclass with costs": (Multiclass("abc", [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]]), "abc"),
        "chain_hamming": (ChainHamming("abc"), _CHAINS),
        "weighted_ranks": (WeightedRanks(), _WEIGHTED),
        "PreferencePairs": (PreferencePairs(), _JUDGED),
        "SlackRescaled(multiclass)": (SlackRescaled(Multiclass("abc", [[0, 1, 2], [3, 0, 1], [0.5, 1, 0]])), "abc"),
        "SlackRescaled(roc_area)": (SlackRescaled(ROCArea()), None),
    }
    for name in ("map", "roc_area", "swapped_pairs", "ndcg", "ndcg@3(truncated=true)", "ndcg(encoding=pairwise)"):
        found[name] = losses.create(name), None
    for name in ("ndcg(encoding=position)", "letor_ndcg@3(truncated=true)", "mrr", "p@2(truncated=true)", "f1", "f2"):
        found[name] = losses.create(name), None
    for name in ("recall@2(truncated=true)", "f0.5", "prbep"):
        found[name] = losses.create(name), None
    return found


Choice = Callable[[Vector, Matrix, Vector, Vector], Vector]
"""``(Δ, codes, code of the truth, scores) → values``: the objective that a wrong argmax maximizes over the outputs."""


def scaled(factor: float) -> Choice:
    return lambda delta, codes, own, scores: factor * delta + codes @ scores


def bonus(delta: Vector, codes: Matrix, own: Vector, scores: Vector) -> Vector:
    return delta + codes @ scores + 0.05 * delta.max() * (delta == 0.0)


def weakened(delta: Vector, codes: Matrix, own: Vector, scores: Vector) -> Vector:
    weight = np.ones(len(scores))
    weight[np.argmax(codes.var(axis=0))] = 0.95
    return delta + codes @ (weight * scores)


def never_the_worst(delta: Vector, codes: Matrix, own: Vector, scores: Vector) -> Vector:
    return np.where(delta < delta.max(), delta + codes @ scores, -np.inf)


def rounded(delta: Vector, codes: Matrix, own: Vector, scores: Vector) -> Vector:
    return delta + codes @ _rounded(scores)


def nearly(delta: Vector, codes: Matrix, own: Vector, scores: Vector) -> Vector:
    values = delta + codes @ scores
    near = values >= values.max() - 0.01 * delta.max()
    return np.where(near, -values, -np.inf)


OTHERS: dict[str, Choice] = {
    "bonus": bonus,
    "one score": weakened,
    "never the worst": never_the_worst,
    "rounded": rounded,
    "nearly": nearly,
}


def _rounded(scores: Vector) -> Vector:
    unit = np.abs(scores).max() / 50
    return np.asarray(np.round(scores / unit) * unit if unit else scores)


def by_methods(loss: Any, choice: Choice) -> Any:
    """Return the loss with an argmax, in Python, that maximizes another objective."""
    listed: dict[Any, Any] = {}

    def tables(self: Any, *example: Any) -> Any:
        key = tuple(map(id, example))
        if key not in listed:
            outputs = list(self.outputs(*example))
            y, x = example[-1], example[:-1]
            encode = self.joint_feature if x else lambda output, y: self.encode(output, y)
            codes = [encode(x[0], output) if x else encode(output, y) for output in (y, *outputs)]
            delta = [self.loss(y, output) for output in outputs]
            listed[key] = example, outputs, np.array(delta), np.array(codes, dtype=np.float64)
        return listed[key]

    def wrong(self: Any, example: tuple[Any, ...], scores: Vector) -> Any:
        _, outputs, delta, codes = tables(self, *example)
        return outputs[int(np.argmax(choice(delta, codes[1:], codes[0], scores)))]

    if isinstance(loss, Loss):
        return _rebuilt(loss, loss_augmented_argmax=lambda self, x, y, w: wrong(self, (x, y), w))
    return _rebuilt(loss, kernel=None, loss_augmented_argmax=lambda self, scores, y: wrong(self, (y,), scores))


def by_kernel(loss: ScoreLoss[Any], change: Callable[[Vector], Vector]) -> Any:
    """Return the loss with a kernel that sees other scores."""
    right = plain_function(loss.kernel)

    def kernel(scores: Vector, labels: Vector, params: Vector, out: Vector) -> float:
        return float(right(change(scores), labels, params, out))

    return _rebuilt(loss, kernel=staticmethod(kernel))


def _rebuilt(loss: Any, **namespace: Any) -> Any:
    cls = type(loss)
    settings = {each.alias: getattr(loss, each.name) for each in attrs.fields(cls)} if attrs.has(cls) else {}
    return type("Mutant", (cls,), namespace)(**settings)


def mutants(loss: Any) -> Iterator[tuple[str, Any]]:
    """Yield mistakes, each with the column that counts it."""
    for factor in FACTORS:
        yield f"found{factor:g}", by_methods(loss, scaled(factor))
    for choice in OTHERS.values():
        if not (choice is rounded and isinstance(loss, ZeroOne)):
            yield "found_others", by_methods(loss, choice)
    if isinstance(loss, Loss) or loss.kernel is None:
        return
    for factor in FACTORS:
        yield f"found{factor:g}", by_kernel(loss, lambda scores, factor=factor: scores / factor)
    yield "found_others", by_kernel(loss, lambda scores: np.concatenate([0.95 * scores[:1], scores[1:]]))
    if not isinstance(loss, ZeroOne):
        yield "found_others", by_kernel(loss, _rounded)


def is_found(loss: Any, examples: Any, seed: int) -> bool:
    """Return whether `check_loss` finds the mistake, with kernels run in Python."""
    try:
        with patch("structsvm.problem.checking.methods.compiled_kernel", lambda kernel: kernel):
            check_loss(loss, examples, random_state=seed)
    except CheckError:
        return True
    return False


def examples_of(loss: Any, examples: Any, seed: int) -> Any:
    """Return the examples, or three small queries that are usable."""
    if examples is not None:
        return examples
    rng = np.random.default_rng(seed)
    queries = (rng.integers(0, 3, rng.integers(3, 5)).astype(np.float64) for _ in range(1000))
    return list(islice((y for y in queries if loss.usable(y)), 3))


def run(size: Size) -> Iterator[Row]:
    seeds = max(1, round(SEEDS * size.scale))
    with ProcessPoolExecutor(PROCESSES, mp_context=get_context("spawn")) as processes:
        yield from processes.map(partial(_row, seeds=seeds), everything())


def everything() -> dict[str, tuple[Any, Any]]:
    """Return all losses, with examples if they need some."""
    return {**shipped(), **USERS}


def _row(what: str, seeds: int) -> Row:
    warnings.simplefilter("ignore")
    loss, examples = everything()[what]
    tried: dict[str, list[bool]] = {}
    for column, mutant in mutants(loss):
        found = [is_found(mutant, examples_of(loss, examples, seed), seed) for seed in range(seeds)]
        tried.setdefault(column, []).extend(found)
    right = range(1000, 1000 + round(28 * seeds / SEEDS))
    alarms = sum(_is_refused(loss, examples_of(loss, examples, seed), seed) for seed in right)
    began = time.process_time()
    check_loss(loss, examples)
    values = {column: 100.0 * float(np.mean(each)) for column, each in tried.items()}
    values |= {"alarms": float(alarms), "right": float(len(right)), "cpu": time.process_time() - began}
    return Row(what=what, who="check_loss", repeats=seeds, values=values)


def _is_refused(loss: Any, examples: Any, seed: int) -> bool:
    """Return whether `check_loss` rejects a loss, and print the reason."""
    try:
        check_loss(loss, examples, random_state=seed)
    except CheckError as error:
        print(error)
        return True
    return False


def targets(rows: list[Row]) -> Iterator[Target]:
    if not rows:
        return
    least = min(row.values["found0.95"] for row in rows)
    others = float(np.mean([row.values["found_others"] for row in rows]))
    right = sum(row.values["right"] for row in rows)
    yield Target("`check_loss`: Δ times 0.95 found, the least of all losses", 95.0, least, at_least=True, unit="%")
    yield Target("`check_loss`: other mistakes found, the mean of all losses", 95.0, others, at_least=True, unit="%")
    alarms = sum(row.values["alarms"] for row in rows)
    yield Target(f"`check_loss`: false alarms in {right:.0f} checks of right losses", 0.0, alarms)
    slowest = max(row.values["cpu"] for row in rows)
    yield Target("`check_loss`: a check, the slowest of all losses", 5.0, slowest, unit="CPU seconds")
