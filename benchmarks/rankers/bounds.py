"""Weights with bounds on MQ2008: their cost in measure and in time."""

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import Fold, read_folds
from benchmarks.harness.measuring import Size
from benchmarks.harness.rows import Row, Target, pick, without_data
from structsvm import Ranker
from structsvm.evaluation.significance import paired_tests
from structsvm.foundation.types import Vector
from structsvm.metrics import parse_measure

TITLE = "Weights with bounds"
ABOUT = """
MQ2008, five folds: C is the best of 0.1, 1, 10 and 100 by validation MAP. Signs are prior knowledge about LETOR's 46
features. Scores only rise with term frequencies, TF-IDF, BM25, language models, PageRank and the number of links to a
page. They only fall with the slashes and the length of its URL. The other features have no sign: inverse document
frequencies, which do not differ within a query, lengths of fields, links from a page, pages below it. `p` belongs to
Fisher's randomization test over all test queries, MAP against no bounds. Weights at a bound are the mean over folds, of
46. CPU seconds include all 20 fits, from one value of C to the next.
"""

WHAT = "MQ2008, MAP"
CS = (0.1, 1.0, 10.0, 100.0)
FREE = "no bounds, OneSlack"
POSITIVE, SIGNS = "weights not negative", "signs of 34 features"

RISE = (*range(1, 6), *range(11, 16), *range(21, 41), 41, 42)
FALL = (44, 45)
"""Features by their numbers from 1: up to 40, five of a kind, of body, anchor, title, URL and the whole document."""

MAP, NDCG = parse_measure("map"), parse_measure("ndcg@10")


@frozen
class Picked:
    """Result of the chosen model of one fold: values of each test query, and costs."""

    ap: Vector
    ndcg: Vector
    C: float
    at_a_bound: int
    cpu: float


def signs(d: int) -> Vector:
    """Return ``monotonic_cst`` of d features."""
    known = np.zeros(max(d, *RISE, *FALL))
    known[np.subtract(RISE, 1)], known[np.subtract(FALL, 1)] = 1, -1
    return known[:d]


def run(size: Size) -> Iterator[Row]:
    folder = letor_folder()
    if folder is None:
        yield without_data(WHAT, FREE)
        return
    folds = read_folds(folder, size)
    ways: dict[str, dict[str, Any]] = {
        FREE: {"solver": "one-slack"},
        "no bounds, auto": {},
        POSITIVE: {"bounds": (0, None)},
        SIGNS: {"monotonic_cst": signs(folds[0][0].X.shape[1])},
    }
    free: Vector | None = None
    for who, settings in ways.items():
        _picked(folds[0], settings)  # compiles
        found = [_picked(fold, settings) for fold in folds]
        ap, ndcg = (np.concatenate([getattr(each, name) for each in found]) for name in ("ap", "ndcg"))
        values = {"map": float(ap.mean()), "ndcg": float(ndcg.mean()), "cpu": sum(each.cpu for each in found)}
        if free is not None:
            values["p_free"] = paired_tests(ap, free).p_values["randomization"]
        free = ap if free is None else free
        values["at_a_bound"] = float(np.mean([each.at_a_bound for each in found]))
        yield Row(what=WHAT, who=who, values=values, note=f"C = {', '.join(f'{each.C:g}' for each in found)}")


def _picked(fold: Fold, settings: dict[str, Any]) -> Picked:
    """Train at each C, and test the model that is best on the validation part."""
    train, valid, test = fold
    ranker = Ranker("map", n_jobs=1, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of scales
        began = time.process_time()
        path = ranker.path(train.X, train.y, qid=train.qid, Cs=CS)
        cpu = time.process_time() - began
    best = max(path, key=lambda each: each.score(valid.X, valid.y, qid=valid.qid))
    scores = best.predict(test.X)
    ap, ndcg = (measure.per_query(scores, test.y, test.qid).values for measure in (MAP, NDCG))
    return Picked(ap, ndcg, best.C, int(best.model_.record.get("weights_at_a_bound", 0)), cpu)


def targets(rows: list[Row]) -> Iterator[Target]:
    free = pick(rows, "map", what=WHAT, who=FREE)
    for who in (POSITIVE, SIGNS):
        found = pick(rows, "map", what=WHAT, who=who)
        lost = None if found is None or free is None else free - found
        yield Target(f"MQ2008, {who}: test MAP lost against no bounds", 0.01, lost)
