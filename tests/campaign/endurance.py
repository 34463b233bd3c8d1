"""Fits without end in one process, in threads and in other processes: memory stays flat, and nothing hangs.

``python -m tests.campaign.endurance NAME`` runs one check, and fails if it does not hold.
"""

import os
import random
import signal
import sys
import threading
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from multiprocessing import get_context

import joblib
import psutil

from structsvm import Ranker
from tests.small_problems import ranking_arrays

_LOSSES = ("map", "roc_area", "ndcg@3", "f1", "zero_one")
_FITS = 300
_WARM = 50
_MOST_GROWTH = 8 * 2**20
"""Bytes by which the memory may grow from fit 50 to fit 300."""


def fit(number: int) -> list[float]:
    """Fit a ranker and return its weights."""
    X, y, qid = ranking_arrays(number, queries=20, documents=10)
    loss = _LOSSES[number % len(_LOSSES)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ranker = Ranker(loss, C=10.0).fit(X, 2 * y - 1 if loss == "zero_one" else y, qid)
    return [*ranker.coef_.tolist(), float(ranker.predict(X).sum())]


def memory() -> None:
    process = psutil.Process()
    for number in range(_FITS):
        fit(number)
        if number + 1 == _WARM:
            before = process.memory_info().rss
    grown = process.memory_info().rss - before
    print(f"{before / 2**20:.0f} MiB after {_WARM} fits, {grown / 2**20:+.1f} MiB after {_FITS}")
    assert grown < _MOST_GROWTH


def threads() -> None:
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fit, range(40))) == _WANTED


def fork() -> None:
    with warnings.catch_warnings(action="ignore"), ProcessPoolExecutor(2, get_context("fork")) as pool:
        assert list(pool.map(fit, range(40))) == _WANTED


def spawn() -> None:
    with ProcessPoolExecutor(2, get_context("spawn")) as pool:
        assert list(pool.map(fit, range(40))) == _WANTED


def parallel() -> None:
    for backend in ("loky", "threading", "multiprocessing"):
        assert joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(fit)(k) for k in range(40)) == _WANTED


def interrupts() -> None:
    """Interrupt fits at random moments: each ends at once, and the fit after it is right."""
    X, y, qid = ranking_arrays(0, queries=300, documents=40, d=30)
    rng = random.Random(0)
    ended = 0
    for _ in range(30):
        timer = threading.Timer(rng.uniform(0.0, 0.5), os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with suppress(KeyboardInterrupt), warnings.catch_warnings(action="ignore"):
            Ranker("map", C=1e5, tol=1e-9).fit(X, y, qid)
            timer.join()
        timer.join()
        ended += 1
        assert fit(3) == _WANTED[3]
    print(f"{ended} fits were interrupted")


CHECKS = {each.__name__: each for each in (memory, threads, fork, spawn, parallel, interrupts)}

if __name__ == "__main__":
    _WANTED = [fit(number) for number in range(40)] if sys.argv[1] != "memory" else []
    CHECKS[sys.argv[1]]()
