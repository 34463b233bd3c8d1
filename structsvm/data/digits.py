"""Tasks on scikit-learn's digits: find images of the same digit, as queries or as TREC runs, and read numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from structsvm.data.dataset import RankingData
from structsvm.data.runs import Qrels, Run
from structsvm.exceptions import InputError
from structsvm.foundation.settings import RandomSource, is_integer, random_generator, require_number
from structsvm.foundation.types import IntVector, Matrix, Vector


def load_digits_queries(
    *, n_train: int = 40, n_test: int = 40, n_candidates: int = 200, random_state: RandomSource = 0
) -> tuple[RankingData, RankingData]:
    """Make a retrieval problem from the 1,797 digits of `sklearn.datasets.load_digits`.

    A query is an image and its documents are other images; images of the same digit, about one in ten, are relevant.
    The features are 25 similarities of the two images, standardized with the means and deviations of the training rows.
    Training and test share no image.

    Parameters
    ----------
    n_train, n_test : numbers of queries. Ids of test queries follow the ids of training queries.
    n_candidates : documents of each query.
    random_state : seed, NumPy Generator or RandomState of the random choice; None: new data at each call.

    Returns
    -------
    train, test : `RankingData` of ``n_train * n_candidates`` and ``n_test * n_candidates`` rows.

    Examples
    --------
    >>> train, test = load_digits_queries(n_train=2, n_test=2, n_candidates=20)
    >>> train.X.shape
    (40, 25)
    """
    images, shown, halves, rng = _halves(random_state)
    _require_below(len(halves[1]), n_train=n_train, n_test=n_test, n_candidates=n_candidates)
    pairs = [_draw_pairs(half, n, n_candidates, rng) for half, n in zip(halves, (n_train, n_test), strict=True)]
    features = [pair_features(images[query], images[document]) for query, document in pairs]
    center, spread = features[0].mean(axis=0), features[0].std(axis=0)
    train, test = (
        RankingData(
            X=(X - center) / np.where(spread > 0, spread, 1.0),
            y=(shown[query] == shown[document]).astype(np.float64),
            qid=np.repeat(first + np.arange(n), n_candidates),
        )
        for X, (query, document), first, n in zip(features, pairs, (0, n_train), (n_train, n_test), strict=True)
    )
    return train, test


def load_digits_runs(
    *, n_queries: int = 50, n_candidates: int = 400, depth: int = 100, random_state: RandomSource = 0
) -> tuple[tuple[Run, ...], Qrels]:
    """Make runs of 15 retrieval functions that compare images, and judgments of all documents.

    Queries, documents and relevance are as in `load_digits_queries`. Each function retrieves the images that are most
    similar to the query, by pixels or by a reduced view such as outlines, edges or ink per row.

    Parameters
    ----------
    n_queries : number of queries; the topics are numbered from 1.
    depth : number of documents that a function retrieves for a query.
    n_candidates, random_state : as in `load_digits_queries`.

    Returns
    -------
    runs, qrels : a run for each function, and the judgments. Document ids are the numbers of the images.

    Examples
    --------
    >>> runs, qrels = load_digits_runs(n_queries=3, n_candidates=20, depth=10)
    >>> len(runs)
    15
    """
    digits = load_digits()
    images = digits.images / 16.0
    _require_below(len(images), n_queries=n_queries, n_candidates=n_candidates, depth=depth)
    rng = random_generator(random_state)
    everything = np.arange(len(images))
    queries = rng.choice(everything, n_queries, replace=False)
    documents = np.array([rng.choice(everything[everything != q], n_candidates, replace=False) for q in queries])
    ids, topics = np.char.zfill(everything.astype(str), 4), np.arange(1, n_queries + 1)
    qrels = Qrels.from_grades(
        qid=np.repeat(topics, n_candidates),
        doc_ids=ids[documents].ravel(),
        grades=(digits.target[documents] == digits.target[queries][:, None]).ravel().astype(np.int64),
    )
    runs = []
    for name, (view, distance) in FUNCTIONS.items():
        seen = view(images)
        scores = np.array(
            [-cdist(seen[[q]], seen[rows], distance)[0] for q, rows in zip(queries, documents, strict=True)]
        )
        top = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        retrieved = np.take_along_axis(documents, top, axis=1)
        best = np.take_along_axis(scores, top, axis=1)
        runs.append(Run.from_scores(name, np.repeat(topics, top.shape[1]), ids[retrieved].ravel(), best.ravel()))
    return tuple(runs), qrels


def load_digits_sequences(
    *, n_train: int = 300, n_test: int = 300, length: int = 8, noise: float = 0.35, random_state: RandomSource = 0
) -> tuple[tuple[list[Matrix], list[IntVector]], tuple[list[Matrix], list[IntVector]]]:
    """Make sequences of digits to read, as noisy images from `sklearn.datasets.load_digits`.

    Each digit is 1, 2 or 3 above the previous digit, modulo 10. Training and test share no image.

    Parameters
    ----------
    n_train, n_test : numbers of sequences.
    length : digits of each sequence.
    noise : standard deviation of the normal noise of each pixel; pixels without noise are from 0 to 1.
    random_state : as in `load_digits_queries`.

    Returns
    -------
    train, test : pairs of inputs and labels: lists of arrays of shapes (length, 64) and (length,).

    Examples
    --------
    >>> (xs, ys), _ = load_digits_sequences(n_train=2, n_test=1)
    >>> xs[0].shape, ys[0].tolist()
    ((8, 64), [1, 2, 5, 6, 9, 1, 3, 6])
    """
    _require_below(1_000_000, n_train=n_train, n_test=n_test, length=length)
    require_number("noise", noise, at_least=0.0)
    images, shown, halves, rng = _halves(random_state)
    parts = []
    for half, n in zip(halves, (n_train, n_test), strict=True):
        ys = [(rng.integers(10) + np.cumsum(rng.integers(1, 4, size=length))) % 10 for _ in range(n)]
        rows = [[rng.choice(half[shown[half] == digit]) for digit in y] for y in ys]
        parts.append(([_pixels(images[seq]) + noise * rng.standard_normal((length, 64)) for seq in rows], ys))
    return parts[0], parts[1]


def _halves(random_state: RandomSource) -> tuple[Matrix, IntVector, list[IntVector], np.random.Generator]:
    """Return all images, with pixels from 0 to 1, their digits, two random halves of them, and the generator."""
    digits, rng = load_digits(), random_generator(random_state)
    return digits.images / 16.0, digits.target, np.array_split(rng.permutation(len(digits.images)), 2), rng


def pair_features(a: Matrix, b: Matrix) -> Matrix:
    """Compare images a[i] and b[i], shape (n, 8, 8), values from 0 to 1, by 25 similarities, shape (n, 25)."""
    apart = np.abs(a - b)
    aspects = [
        -apart.mean(axis=2),
        -apart.mean(axis=1),
        *(-np.abs((a - b).sum(axis=axis)).mean(axis=1) for axis in (2, 1)),
        -np.abs((a - b).sum(axis=(1, 2))),
        *(-np.abs(_center(a, axis) - _center(b, axis)) for axis in (1, 2)),
        *(_cosine(edges_a, edges_b) for edges_a, edges_b in zip(blurred_edges(a), blurred_edges(b), strict=True)),
    ]
    return np.column_stack(aspects)


def _draw_pairs(
    half: IntVector, n_queries: int, n_candidates: int, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """Draw query images from a half of the images, and other images of the half for each query."""
    queries = rng.choice(half, n_queries, replace=False)
    documents = [rng.choice(half[half != query], n_candidates, replace=False) for query in queries]
    return np.repeat(queries, n_candidates), np.concatenate(documents)


def _center(images: Matrix, axis: int) -> Vector:
    """Center of gravity along an axis, in pixels."""
    ink = images.sum(axis=3 - axis)
    return np.asarray(ink @ np.arange(8.0) / ink.sum(axis=1))


def blurred_edges(images: Matrix) -> list[Matrix]:
    """Strength of edges in each of four directions, blurred so that close edges match."""
    down, right = np.gradient(images, axis=(1, 2))
    strength, direction = np.hypot(down, right), np.floor(np.arctan2(down, right) / (np.pi / 4)) % 4
    return [gaussian_filter(strength * (direction == sector), sigma=(0, 1, 1)) for sector in range(4)]


def _cosine(a: Matrix, b: Matrix) -> Vector:
    """Cosine of each pair of images; 0 for an empty one."""
    norms = np.linalg.norm(a, axis=(1, 2)) * np.linalg.norm(b, axis=(1, 2))
    return np.asarray((a * b).sum(axis=(1, 2)) / np.where(norms > 0, norms, 1.0))


def _require_below(most: int, **wanted: int) -> None:
    for name, number in wanted.items():
        if not (is_integer(number) and 1 <= number < most):
            raise InputError(f"{name} must be from 1 to {most - 1}, got {number}")


def _pixels(images: Matrix) -> Matrix:
    return images.reshape(len(images), -1)


def _root_pixels(images: Matrix) -> Matrix:
    """Square roots of pixels as a distribution; their Euclidean distance is Hellinger's."""
    ink = _pixels(images)
    return np.asarray(np.sqrt(ink / ink.sum(axis=1, keepdims=True)))


def _outline(images: Matrix) -> Matrix:
    """First dark pixel from each side of each row and column; 8 if all pixels of the line are light."""
    dark = images > 0.5
    sides = [side for lines in (dark, dark.swapaxes(1, 2)) for side in (lines, lines[:, :, ::-1])]
    return np.hstack([np.where(side.any(axis=2), side.argmax(axis=2), 8) for side in sides]).astype(np.float64)


def _directions(images: Matrix) -> Matrix:
    """Strength of edges by direction and quarter of the image."""
    edges = np.stack(blurred_edges(images), axis=1)
    return np.asarray(edges.reshape(len(images), 4, 2, 4, 2, 4).sum(axis=(3, 5)).reshape(len(images), -1))


FUNCTIONS: dict[str, tuple[Callable[[Matrix], Matrix], Any]] = {
    "cosine": (_pixels, "cosine"),
    "euclidean": (_pixels, "euclidean"),
    "manhattan": (_pixels, "cityblock"),
    "correlation": (_pixels, "correlation"),
    "hellinger": (_root_pixels, "euclidean"),
    "jaccard": (lambda images: (_pixels(images) > 0.5).astype(np.float64), "jaccard"),
    "blurred": (lambda images: _pixels(gaussian_filter(images, sigma=(0, 1, 1))), "correlation"),
    "coarse": (lambda images: _pixels(images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4))), "cityblock"),
    "rows": (lambda images: images.sum(axis=2), "cityblock"),
    "columns": (lambda images: images.sum(axis=1), "cityblock"),
    "diagonals": (lambda images: np.stack([np.trace(images, k, 1, 2) for k in range(-7, 8)], axis=1), "cityblock"),
    "outline": (_outline, "cityblock"),
    "edges": (lambda images: np.stack(blurred_edges(images), axis=1).reshape(len(images), -1), "cosine"),
    "directions": (_directions, "cosine"),
    "shades": (
        lambda images: np.stack([(np.round(images * 4.0) == shade).sum(axis=(1, 2)) for shade in range(5)], axis=1),
        "cityblock",
    ),
}
"""View of images and distance between views, by name of the retrieval function; equal views have distance 0."""
