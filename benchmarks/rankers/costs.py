"""Costs of ways to train, compared with a plain fit."""

import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from attrs import frozen

from benchmarks.harness.data import letor_folder
from benchmarks.harness.folds import read_folds
from benchmarks.harness.measuring import Size, threads
from benchmarks.harness.rows import Row, Target, without_data
from structsvm import Ranker, StructuralSVM
from structsvm.clicks import PositionBias, PowerBias, simulate, weigh
from structsvm.data import RankingData
from structsvm.estimators import LatentStructuralSVM, RampRanker
from structsvm.foundation.types import Matrix, Vector
from structsvm.losses import LatentLoss, SlackRescaled
from structsvm.losses.latent import Completed
from structsvm.objectives import Hinge, LightGBMHinge

TITLE = "Costs of each way to train"
ABOUT = """
The training part of fold 1 of MQ2008 (46 features) at C = 1 on one thread, warm, each way beside the plain fit that its
row names, in turn with it. "fits" are the convex problems that it solves. "ratio" is its CPU seconds over CPU seconds
of the plain fit, medians of three. "peak MB" is the peak memory of Python and NumPy during the fit, without the data
and without allocations of compiled code and LightGBM. The detector is the example of the page on latent variables, with
400 series; its plain fit uses the first guess of the latent variables.
"""

REAL, MADE = "MQ2008, fold 1", "detector of the page"
STEPS, HIDDEN, TREES = 300, 32, 100


@frozen
class Way:
    """A way to train, and the plain fit to compare it with.

    Parameters
    ----------
    what : the data.
    who : the way.
    beside : name of the plain fit.
    make : makes the plain fit and the way, each a function that trains, of the part of the data that is taken; the way
        returns the number of its convex problems.
    needs : a package that must be there.
    """

    what: str
    who: str
    beside: str
    make: Callable[[float], tuple[Callable[[], Any], Callable[[], float]]]
    needs: str = "numpy"


@cache
def _data(scale: float) -> RankingData:
    folder = letor_folder()
    if folder is None:
        raise FileNotFoundError
    train = read_folds(folder)[0][0]
    ids = np.unique(train.qid)
    rows = np.isin(train.qid, ids[: max(20, round(len(ids) * scale))])
    return RankingData(train.X[rows], train.y[rows], train.qid[rows])


def _fit(loss: Any, data: RankingData, y: Vector | None = None) -> Ranker:
    return Ranker(loss, n_jobs=1).fit(data.X, data.y if y is None else y, qid=data.qid)


def _ramps(scale: float) -> Any:
    data = _data(scale)

    def ramps() -> float:
        return 1.0 + len(RampRanker("map", n_jobs=1).fit(data.X, data.y, qid=data.qid).rounds_)

    return lambda: _fit("map", data), ramps


def _slacks(scale: float) -> Any:
    data = _data(scale)
    return lambda: _fit("roc_area", data), lambda: _one(_fit(SlackRescaled("roc_area"), data))


def _one(fitted: Any) -> float:
    return 1.0


def _clicks(scale: float, estimated: bool) -> Any:
    data = _data(scale)
    in_use = data.X @ np.random.default_rng(0).standard_normal(data.X.shape[1])
    users = np.where(data.y > 0, 0.9, 0.1)
    bias = PowerBias(1.0, int(np.unique(data.qid, return_counts=True)[1].max()))
    log = simulate(in_use, users, data.qid, bias, sessions=20)
    swapped = simulate(in_use, users, data.qid, bias, sessions=5, shown="swapped")

    def clicks() -> float:
        if estimated:
            PositionBias.from_interventions(swapped, 5)
        return _one(_fit("weighted_ranks", data, weigh(log, bias, data.qid).y))

    return lambda: _fit("map", data), clicks


def _network(scale: float) -> Any:
    data = _data(scale)
    rows = np.column_stack([data.X, np.ones(len(data.y))])

    def network() -> float:
        hinge = Hinge("map", data.y, data.qid)
        rng = np.random.default_rng(0)
        into, out = 0.5 * rng.standard_normal((rows.shape[1], HIDDEN)), 0.2 * rng.standard_normal(HIDDEN)
        for _ in range(STEPS):
            hidden = np.maximum(rows @ into, 0.0)
            values, slope = hinge(hidden @ out)
            slope = slope / len(values)
            step = hidden.T @ slope
            into -= 0.5 * (rows.T @ (np.outer(slope, out) * (hidden > 0.0)))
            out -= 0.5 * step
        return 0.0

    return lambda: _fit("map", data), network


def _trees(scale: float, hinges: bool) -> Any:
    from lightgbm import LGBMRanker

    data = _data(scale)
    order = np.argsort(data.qid, kind="stable")
    sizes = np.unique(data.qid, return_counts=True)[1]

    def trees() -> float:
        objective: Any = LightGBMHinge("map") if hinges else "lambdarank"
        model = LGBMRanker(objective=objective, n_estimators=TREES, num_leaves=7, num_threads=1, verbosity=-1)
        model.fit(data.X[order], data.y[order], group=sizes)
        return 0.0

    return lambda: _fit("map", data), trees


class Detector(LatentLoss[Vector, int, int]):
    """The detector of the page on latent variables: whether a series has a pattern, and its position."""

    def windows(self, x: Vector) -> Matrix:
        return np.lib.stride_tricks.sliding_window_view(x, 4)

    def joint_feature(self, x: Vector, y: int, h: int) -> Vector:
        return np.append(self.windows(x)[h], 1.0) if y else np.zeros(5)

    def loss(self, y: int, y_hat: int, h_hat: int) -> float:
        return float(y != y_hat)

    def initial(self, x: Vector, y: int) -> int:
        return int(np.argmax(self.windows(x).var(axis=1))) if y else 0

    def complete(self, x: Vector, y: int, w: Vector) -> int:
        return int(np.argmax(self.windows(x) @ w[:-1])) if y else 0

    def argmax(self, x: Vector, w: Vector) -> tuple[int, int]:
        values = self.windows(x) @ w[:-1] + w[-1]
        h = int(np.argmax(values))
        return (1, h) if values[h] > 0.0 else (0, 0)

    def loss_augmented_argmax(self, x: Vector, y: int, w: Vector) -> tuple[int, int]:
        values = self.windows(x) @ w[:-1] + w[-1]
        h = int(np.argmax(values))
        return (1, h) if values[h] + (y == 0) > (y == 1) else (0, 0)


def _latent(scale: float) -> Any:
    rng = np.random.default_rng(2)
    series = 0.5 * rng.standard_normal((max(20, round(400 * scale)), 20))
    for each in series[1::2]:
        begin = rng.integers(0, 17)
        each[begin : begin + 4] += [1.0, -1.5, 1.5, -1.0]
    xs, ys = list(series), [i % 2 for i in range(len(series))]
    loss = Detector()
    guessed = [(y, loss.initial(x, y)) for x, y in zip(xs, ys, strict=True)]

    def latent() -> float:
        return 1.0 + len(LatentStructuralSVM(loss, C=30.0, n_jobs=1).fit(xs, ys).rounds_)

    return lambda: StructuralSVM(Completed(loss), C=30.0, n_jobs=1).fit(xs, guessed), latent


WAYS = (
    Way(REAL, "ramps, `RampRanker`", "map", _ramps),
    Way(REAL, "slack rescaling, `SlackRescaled`", "roc_area", _slacks),
    Way(REAL, "clicks, `weigh` and `weighted_ranks`", "map", partial(_clicks, estimated=False)),
    Way(REAL, "clicks, propensities estimated", "map", partial(_clicks, estimated=True)),
    Way(REAL, f"network, {HIDDEN} hidden, {STEPS} steps on `Hinge`", "map", _network),
    Way(REAL, f"LightGBM, {TREES} trees on `LightGBMHinge`", "map", partial(_trees, hinges=True), "lightgbm"),
    Way(REAL, f"LightGBM, {TREES} trees, lambdarank", "map", partial(_trees, hinges=False), "lightgbm"),
    Way(MADE, "latent variables, `LatentStructuralSVM`", "first guesses", _latent),
)


def run(size: Size) -> Iterator[Row]:
    for way in WAYS:
        if way.what == REAL and letor_folder() is None:
            yield without_data(way.what, way.who)
        elif find_spec(way.needs) is None:
            yield Row(what=way.what, who=way.who, note=f"{way.needs} is not installed")
        else:
            yield _row(way, size.scale)


def _row(way: Way, scale: float) -> Row:
    with threads(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        plain, work = way.make(scale)
        plain()
        fits = work()
        held = [_held(each) for each in (plain, work)]
        taken = np.array([[_cpu(plain), _cpu(work)] for _ in range(3)])
    of_plain, of_work = np.median(taken, axis=0)
    values = {"fits": fits, "cpu": float(of_work), "ratio": float(of_work / of_plain), "megabytes": held[1]}
    if not fits:
        del values["fits"]
    note = f"plain: {way.beside}, {of_plain:.3g} s, {held[0]:.0f} MB"
    return Row(what=way.what, who=way.who, repeats=3, values=values, note=note)


def _held(work: Callable[[], Any]) -> float:
    """Return the peak memory of some work in megabytes."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / 1e6
    finally:
        tracemalloc.stop()


def _cpu(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def targets(rows: list[Row]) -> Iterator[Target]:
    yield from ()
