"""Query by example on scikit-learn's digits: find the images that show the same digit as this one."""

import numpy as np
from scipy.ndimage import gaussian_filter
from sklearn.datasets import load_digits

from structsvm.data.dataset import RankingData
from structsvm.exceptions import InputError
from structsvm.types import IntVector, Matrix, Vector


def load_digits_queries(
    *, n_train: int = 40, n_test: int = 40, n_candidates: int = 200, seed: int = 0
) -> tuple[RankingData, RankingData]:
    """Make a retrieval problem from the 1,797 digits of `sklearn.datasets.load_digits`.

    A query is an image; its documents are other images; those of the same digit are relevant, one
    in ten. The features compare the two images, larger is more similar (`pair_features`), and are
    standardised with the means and deviations of the training rows. Training and test share no image.

    Parameters
    ----------
    n_train, n_test : numbers of queries. Test queries are numbered on from the training queries.
    n_candidates : documents of each query.
    seed : draws the halves, the queries and their documents; the same seed gives the same data.

    Returns
    -------
    train, test : `RankingData` of ``n_train * n_candidates`` and ``n_test * n_candidates`` rows.

    Raises
    ------
    InputError : more queries or candidates are asked for than a half of the images has.
    """
    digits = load_digits()
    images, shown = digits.images / 16.0, digits.target
    rng = np.random.default_rng(seed)
    halves = np.array_split(rng.permutation(len(images)), 2)
    for name, wanted in (("n_train", n_train), ("n_test", n_test), ("n_candidates", n_candidates)):
        if not 1 <= wanted < len(halves[1]):
            raise InputError(f"{name} must be from 1 to {len(halves[1]) - 1}; it is {wanted}")
    pairs = [_draw_pairs(half, n, n_candidates, rng) for half, n in zip(halves, (n_train, n_test), strict=True)]
    features = [pair_features(images[query], images[document]) for query, document in pairs]
    centre, spread = features[0].mean(axis=0), features[0].std(axis=0)
    train, test = (
        RankingData(
            X=(X - centre) / np.where(spread > 0, spread, 1.0),
            y=(shown[query] == shown[document]).astype(np.float64),
            qid=np.repeat(first + np.arange(n), n_candidates),
        )
        for X, (query, document), first, n in zip(features, pairs, (0, n_train), (n_train, n_test), strict=True)
    )
    return train, test


def pair_features(a: Matrix, b: Matrix) -> Matrix:
    """Compare images a[i] and b[i] of 8 x 8 pixels: 25 similarities a pair.

    Each looks at one aspect, none at the whole image, so there is something to learn. In order:
    minus the mean absolute difference of pixels in rows 0-7 and in columns 0-7; minus the mean
    absolute difference of the ink in rows, in columns, and in all; minus the distance of the centres
    of gravity, vertically and horizontally; the cosine of the edges in four directions, blurred.

    Parameters
    ----------
    a, b : images, shape (n, 8, 8), values from 0 to 1.

    Returns
    -------
    features : shape (n, 25).
    """
    apart = np.abs(a - b)
    aspects = [
        -apart.mean(axis=2),
        -apart.mean(axis=1),
        *(-np.abs((a - b).sum(axis=axis)).mean(axis=1) for axis in (2, 1)),
        -np.abs((a - b).sum(axis=(1, 2))),
        *(-np.abs(_centre(a, axis) - _centre(b, axis)) for axis in (1, 2)),
        *(_cosine(edges_a, edges_b) for edges_a, edges_b in zip(blurred_edges(a), blurred_edges(b), strict=True)),
    ]
    return np.column_stack(aspects)


def _draw_pairs(
    half: IntVector, n_queries: int, n_candidates: int, rng: np.random.Generator
) -> tuple[IntVector, IntVector]:
    """Draw query images from a half of the images, and for each of them other images of that half."""
    queries = rng.choice(half, n_queries, replace=False)
    documents = [rng.choice(half[half != query], n_candidates, replace=False) for query in queries]
    return np.repeat(queries, n_candidates), np.concatenate(documents)


def _centre(images: Matrix, axis: int) -> Vector:
    """Centre of gravity along an axis, in pixels."""
    ink = images.sum(axis=3 - axis)
    return np.asarray(ink @ np.arange(8.0) / ink.sum(axis=1))


def blurred_edges(images: Matrix) -> list[Matrix]:
    """Strength of the edges in each of four directions, blurred so that near ones match."""
    down, right = np.gradient(images, axis=(1, 2))
    strength, direction = np.hypot(down, right), np.floor(np.arctan2(down, right) / (np.pi / 4)) % 4
    return [gaussian_filter(strength * (direction == each), sigma=(0, 1, 1)) for each in range(4)]


def _cosine(a: Matrix, b: Matrix) -> Vector:
    """Cosine of each pair of images; 0 for an empty one."""
    norms = np.linalg.norm(a, axis=(1, 2)) * np.linalg.norm(b, axis=(1, 2))
    return np.asarray((a * b).sum(axis=(1, 2)) / np.where(norms > 0, norms, 1.0))
