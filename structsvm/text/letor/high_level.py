r"""LETOR's high-level features: scores of retrieval functions.

The logarithm of BM25, H2, has no value where BM25 is 0, as for a document without a term of the query, or
below 0, as its idf may be for a term that more than half of the documents have. BM25 below `LEAST_BM25` is
taken as `LEAST_BM25` there: H2 then still orders documents as BM25 does, and is finite. The floor is a
number of its own, not the smallest score of the query, so that H2 depends on query and document alone; and
it is no tiny number, since the distance from log 1e-300 to the score of any match would make all matches
the same after scaling by query.
"""

import numpy as np

from structsvm.text.letor.evidence import Evidence
from structsvm.text.letor.feature import Feature
from structsvm.types import Vector

LEAST_BM25 = 0.01
"""What BM25 is at least before its logarithm is taken: a term that is worth something scores around 1."""

_BM25 = "okapi"
_SOURCE = "LETOR; Zhai and Lafferty (SIGIR 2001) for the smoothing"


def _log_bm25(evidence: Evidence) -> Vector:
    return np.log(np.maximum(evidence.scores(_BM25), LEAST_BM25))


def retrieval_feature(name: str, function: str, description: str = "", formula: str = "", source: str = "") -> Feature:
    """Return the scores of a retrieval function as a feature.

    Parameters
    ----------
    name : name of the feature.
    function : name of the function, such as ``"lm_dirichlet(mu=2000)"``.
    description, formula, source : see `Feature`; without, those of the function are meant.

    Examples
    --------
    >>> from structsvm.data import Qrels
    >>> from structsvm.text import Analyzer, Index
    >>> from structsvm.text.letor import letor_features, retrieval_feature
    >>> index = Index.build([("a", {"text": "a swept wing"}), ("b", {"text": "two wings"})], Analyzer("porter"))
    >>> judged = Qrels.from_grades(["1", "1"], ["a", "b"], [1, 0])
    >>> features = [retrieval_feature(f"DIR{mu}", f"lm_dirichlet(mu={mu})") for mu in (10, 1000)]
    >>> data = letor_features(index, {"1": "swept wings"}, judged, features=features, normalise="none")
    >>> data.feature_names
    ('text.DIR10', 'text.DIR1000')
    >>> data.X.round(2)  # the larger mu, the less does the text count
    array([[-0.44, -0.35],
           [-0.27, -0.35]])
    """
    return Feature(
        name,
        description or f"score of the retrieval function {function}",
        formula or rf"\mathrm{{{function}}}(q, d)",
        source or "the retrieval function",
        lambda evidence: evidence.scores(function),
    )


H1 = retrieval_feature("H1", _BM25, "BM25", r"\mathrm{BM25}(q, d)", "LETOR; Robertson and others (TREC-3, 1994)")
H2 = Feature(
    "H2", "logarithm of BM25", r"\log\max(\mathrm{BM25}(q, d), 0.01)", "LETOR; the floor is our own", _log_bm25
)
H3 = retrieval_feature(
    "H3",
    "lm_dirichlet(mu=2000)",
    "language model, Dirichlet smoothing: LMIR.DIR",
    r"p(t \mid d) = \frac{c(t, d) + \mu\, p(t \mid C)}{|d| + \mu},\ \mu = 2000",
    _SOURCE,
)
H4 = retrieval_feature(
    "H4",
    "lm_jelinek_mercer(weight=0.1)",
    "language model, Jelinek-Mercer smoothing: LMIR.JM",
    r"p(t \mid d) = (1 - \lambda) \frac{c(t, d)}{|d|} + \lambda\, p(t \mid C),\ \lambda = 0.1",
    _SOURCE,
)
H5 = retrieval_feature(
    "H5",
    "lm_absolute(delta=0.7)",
    "language model, absolute discounting: LMIR.ABS",
    r"p(t \mid d) = \frac{\max(c(t, d) - \delta, 0) + \delta\, |d|_u\, p(t \mid C)}{|d|},\ \delta = 0.7",
    _SOURCE,
)
