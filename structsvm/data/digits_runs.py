"""Query by example on scikit-learn's digits, as TREC has it: runs of retrieval functions, and judgments."""

from collections.abc import Callable
from typing import Literal

import numpy as np
from attrs import frozen
from scipy.ndimage import gaussian_filter
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from structsvm.data.digits import blurred_edges
from structsvm.data.qrels import Qrels
from structsvm.data.run import Run
from structsvm.exceptions import InputError
from structsvm.types import IntVector, Matrix, Vector


def load_digits_runs(
    *, n_queries: int = 50, n_candidates: int = 400, depth: int = 100, seed: int = 0
) -> tuple[tuple[Run, ...], Qrels]:
    """Make retrieval functions of ways to compare images, and let each retrieve its top documents.

    A query is an image of `sklearn.datasets.load_digits`; its documents are other images, of which
    those of the same digit are relevant, one in ten. Each of 15 functions compares the query with all
    documents, by pixels or by what is left of them (outlines, edges, ink per row), and keeps those
    that are most similar. All documents are judged.

    Parameters
    ----------
    n_queries : number of queries; the topics are numbered from 1.
    n_candidates : documents of each query.
    depth : documents that a function retrieves for a query.
    seed : draws the queries and their documents; the same seed gives the same data.

    Returns
    -------
    runs, qrels : a run for each function, and the judgments. Documents are numbered like the images.

    Raises
    ------
    InputError : more queries or documents are asked for than there are images.
    """
    digits = load_digits()
    images = digits.images / 16.0
    for name, wanted in (("n_queries", n_queries), ("n_candidates", n_candidates), ("depth", depth)):
        if not 1 <= wanted < len(images):
            raise InputError(f"{name} must be from 1 to {len(images) - 1}; it is {wanted}")
    rng = np.random.default_rng(seed)
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
    for name, function in _FUNCTIONS.items():
        seen = function.view(images)
        scores = np.array([function.compare(seen, q, rows) for q, rows in zip(queries, documents, strict=True)])
        top = np.argsort(-scores, axis=1, kind="stable")[:, :depth]
        retrieved = np.take_along_axis(documents, top, axis=1)
        kept = np.take_along_axis(scores, top, axis=1)
        runs.append(Run.from_scores(name, np.repeat(topics, top.shape[1]), ids[retrieved].ravel(), kept.ravel()))
    return tuple(runs), qrels


@frozen
class _Function:
    """A retrieval function: what it sees of an image, and by which distance it compares that."""

    view: Callable[[Matrix], Matrix]
    distance: Literal["cosine", "euclidean", "cityblock", "correlation", "jaccard"]

    def compare(self, seen: Matrix, query: int, documents: IntVector) -> Vector:
        """Return similarities, larger is more similar."""
        return np.asarray(-cdist(seen[[query]], seen[documents], self.distance)[0])


def _pixels(images: Matrix) -> Matrix:
    return images.reshape(len(images), -1)


def _root_pixels(images: Matrix) -> Matrix:
    """Pixels as a distribution, of which the Euclidean distance is Hellinger's."""
    ink = _pixels(images)
    return np.asarray(np.sqrt(ink / ink.sum(axis=1, keepdims=True)))


def _dark(images: Matrix) -> Matrix:
    return (_pixels(images) > 0.5).astype(np.float64)


def _blurred(images: Matrix) -> Matrix:
    return _pixels(gaussian_filter(images, sigma=(0, 1, 1)))


def _coarse(images: Matrix) -> Matrix:
    """Blocks of 2 x 2 pixels."""
    return np.asarray(images.reshape(-1, 4, 2, 4, 2).sum(axis=(2, 4)).reshape(len(images), -1))


def _rows(images: Matrix) -> Matrix:
    return np.asarray(images.sum(axis=2))


def _columns(images: Matrix) -> Matrix:
    return np.asarray(images.sum(axis=1))


def _diagonals(images: Matrix) -> Matrix:
    return np.stack([np.trace(images, offset, 1, 2) for offset in range(-7, 8)], axis=1)


def _outline(images: Matrix) -> Matrix:
    """First dark pixel from each side of each row and column; 8 where there is none."""
    dark = images > 0.5
    sides = [side for lines in (dark, dark.swapaxes(1, 2)) for side in (lines, lines[:, :, ::-1])]
    return np.hstack([np.where(side.any(axis=2), side.argmax(axis=2), 8) for side in sides]).astype(np.float64)


def _shades(images: Matrix) -> Matrix:
    """How many pixels have each of five shades of grey."""
    return np.stack([(np.round(images * 4.0) == shade).sum(axis=(1, 2)) for shade in range(5)], axis=1)


def _directions(images: Matrix) -> Matrix:
    """How much of the edges has each direction, in each quarter of the image."""
    edges = np.stack(blurred_edges(images), axis=1)
    return np.asarray(edges.reshape(len(images), 4, 2, 4, 2, 4).sum(axis=(3, 5)).reshape(len(images), -1))


def _edges(images: Matrix) -> Matrix:
    return np.stack(blurred_edges(images), axis=1).reshape(len(images), -1)


_FUNCTIONS = {
    "cosine": _Function(_pixels, "cosine"),
    "euclidean": _Function(_pixels, "euclidean"),
    "manhattan": _Function(_pixels, "cityblock"),
    "correlation": _Function(_pixels, "correlation"),
    "hellinger": _Function(_root_pixels, "euclidean"),
    "jaccard": _Function(_dark, "jaccard"),
    "blurred": _Function(_blurred, "correlation"),
    "coarse": _Function(_coarse, "cityblock"),
    "rows": _Function(_rows, "cityblock"),
    "columns": _Function(_columns, "cityblock"),
    "diagonals": _Function(_diagonals, "cityblock"),
    "outline": _Function(_outline, "cityblock"),
    "edges": _Function(_edges, "cosine"),
    "directions": _Function(_directions, "cosine"),
    "shades": _Function(_shades, "cityblock"),
}
