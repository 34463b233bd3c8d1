r"""LETOR's features by name.

Terms that no document has in the field are left out of all sums, and an empty sum is 0. In the released data L5, L6 and
L7 are sums over all terms of the query, so they are equal for all documents of a query, and L8 has the 1 inside the
logarithm of the product. In the lecture all sums are over the terms that query and document share; names of its
versions end in ``_lecture``.

Logarithms of 0 are avoided. L6 takes the idf of a term that all documents have as :math:`\log(|C| / (|C| - 1/2))`, as
if half a document lacked the term: finite, and below the idf of any other term. H2 replaces BM25 below `LEAST_BM25` by
`LEAST_BM25`, so it orders documents as BM25 does and depends on query and document alone. A tiny floor would make all
matches equal after scaling by query.
"""

from collections.abc import Callable, Iterable

import numpy as np

from structsvm.exceptions import InputError, UnknownNameError
from structsvm.foundation.settings import as_list, repeated, require_kind
from structsvm.foundation.types import Matrix, Vector
from structsvm.registry import retrieval_functions
from structsvm.text.letor.feature import Evidence, Feature

LEAST_BM25 = 0.01
"""Floor of BM25 in its logarithm; a useful term scores about 1."""

_RELEASE = "released data of LETOR"
_LECTURE = "Carterette's lecture on learning to rank"
_BOTH = "LETOR, as in the lecture"
_SMOOTHING = "LETOR; Zhai and Lafferty (SIGIR 2001) for the smoothing"


def _idf(evidence: Evidence) -> Vector:
    return np.log(evidence.n_documents / evidence.document_frequency)


def _log_idf(evidence: Evidence) -> Vector:
    n = evidence.n_documents
    least: float = np.log(n / (n - 0.5))
    return np.log(np.maximum(_idf(evidence), least))


def _inverse_collection_frequency(evidence: Evidence) -> Vector:
    return evidence.n_documents / evidence.collection_frequency


def _log_rate(evidence: Evidence) -> Matrix:
    """Return log(c / |d|) if the document has the term, else 0."""
    rates = evidence.rates
    return np.log(rates, out=np.zeros_like(rates), where=rates > 0)


def _sum(name: str, words: str, term: str, source: str, summand: Callable[[Evidence], Matrix]) -> Feature:
    """Return a feature that sums the numbers of each term of the query, shape (m, n), for each document."""
    terms = r"q \cap d" if source == _LECTURE else "q"
    return Feature(name, words, rf"\sum_{{q_i \in {terms}}} {term}", source, lambda e: summand(e).sum(axis=0))


def _of_terms(name: str, words: str, term: str, summand: Callable[[Evidence], Vector]) -> tuple[Feature, Feature]:
    """Return features that sum numbers of terms: over the query, as released, and over shared terms, as lectured."""
    released = Feature(
        name,
        f"{words} of the query",
        rf"\sum_{{q_i \in q}} {term}",
        _RELEASE,
        lambda e: np.full(len(e.documents), summand(e).sum()),
    )
    lectured = Feature(
        f"{name}_lecture",
        f"{words} of the terms in the document",
        rf"\sum_{{q_i \in q \cap d}} {term}",
        _LECTURE,
        lambda e: summand(e) @ (e.counts > 0),
    )
    return released, lectured


def _retrieval(name: str, function: str, description: str = "", formula: str = "", source: str = "") -> Feature:
    """Return a feature whose values are the scores of a retrieval function, such as "lm_dirichlet(mu=2000)"."""
    return Feature(
        name,
        description or f"score of the retrieval function {function}",
        formula or rf"\mathrm{{{function}}}(q, d)",
        source or "the retrieval function",
        lambda e: e.scores(function),
    )


_L1_TO_L4 = (
    _sum("L1", "term frequency", "c(q_i, d)", _BOTH, lambda e: e.counts),
    _sum("L2", "logarithms of term frequencies", r"\log(c(q_i, d) + 1)", _BOTH, lambda e: np.log1p(e.counts)),
    _sum("L3", "term frequency by length", r"\frac{c(q_i, d)}{|d|}", _BOTH, lambda e: e.rates),
    _sum(
        "L4",
        "logarithms of term frequencies by length",
        r"\log\left(\frac{c(q_i, d)}{|d|} + 1\right)",
        _BOTH,
        lambda e: np.log1p(e.rates),
    ),
)
_L5 = _of_terms("L5", "inverse document frequency", r"\log\frac{|C|}{df(q_i)}", _idf)
_L6 = _of_terms("L6", "logarithms of inverse document frequency", r"\log\log\frac{|C|}{df(q_i)}", _log_idf)
_L7 = _of_terms(
    "L7",
    "logarithms of inverse collection frequency",
    r"\log\left(\frac{|C|}{c(q_i, C)} + 1\right)",
    lambda e: np.log1p(_inverse_collection_frequency(e)),
)
_L8 = (
    _sum(
        "L8",
        "logarithms of term frequencies by length, times inverse document frequency",
        r"\log\left(\frac{c(q_i, d)}{|d|} \log\frac{|C|}{df(q_i)} + 1\right)",
        _RELEASE,
        lambda e: np.log1p(e.rates * _idf(e)[:, None]),
    ),
    _sum(
        "L8_lecture",
        "logarithm of term frequency by length, times logarithm of inverse document frequency",
        r"\log\frac{c(q_i, d)}{|d|} \log\left(\frac{|C|}{df(q_i)} + 1\right)",
        _LECTURE,
        lambda e: _log_rate(e) * np.log1p(e.n_documents / e.document_frequency)[:, None],
    ),
)
_L9_TO_H5 = (
    _sum("L9", "tf-idf", r"c(q_i, d) \log\frac{|C|}{df(q_i)}", _BOTH, lambda e: e.counts * _idf(e)[:, None]),
    _sum(
        "L10",
        "logarithms of term frequencies by length, times inverse collection frequency",
        r"\log\left(\frac{c(q_i, d)}{|d|} \cdot \frac{|C|}{c(q_i, C)} + 1\right)",
        _BOTH,
        lambda e: np.log1p(e.rates * _inverse_collection_frequency(e)[:, None]),
    ),
    _retrieval("H1", "okapi", "BM25", r"\mathrm{BM25}(q, d)", "LETOR; Robertson and others (TREC-3, 1994)"),
    Feature(
        "H2",
        "logarithm of BM25",
        r"\log\max(\mathrm{BM25}(q, d), 0.01)",
        "LETOR; the floor is our own",
        lambda e: np.log(np.maximum(e.scores("okapi"), LEAST_BM25)),
    ),
    _retrieval(
        "H3",
        "lm_dirichlet(mu=2000)",
        "language model, Dirichlet smoothing: LMIR.DIR",
        r"p(t \mid d) = \frac{c(t, d) + \mu\, p(t \mid C)}{|d| + \mu},\ \mu = 2000",
        _SMOOTHING,
    ),
    _retrieval(
        "H4",
        "lm_jelinek_mercer(weight=0.1)",
        "language model, Jelinek-Mercer smoothing: LMIR.JM",
        r"p(t \mid d) = (1 - \lambda) \frac{c(t, d)}{|d|} + \lambda\, p(t \mid C),\ \lambda = 0.1",
        _SMOOTHING,
    ),
    _retrieval(
        "H5",
        "lm_absolute(delta=0.7)",
        "language model, absolute discounting: LMIR.ABS",
        r"p(t \mid d) = \frac{\max(c(t, d) - \delta, 0) + \delta\, |d|_u\, p(t \mid C)}{|d|},\ \delta = 0.7",
        _SMOOTHING,
    ),
)

RELEASED, LECTURED = ((*_L1_TO_L4, *middle, *_L9_TO_H5) for middle in zip(_L5, _L6, _L7, _L8, strict=True))
"""L1 to L10 and H1 to H5 as in the released data, and as in the lecture.

Examples
--------
>>> from structsvm.text.letor import RELEASED
>>> for feature in RELEASED[:3]:
...     print(feature.name, feature.description)
L1 term frequency
L2 logarithms of term frequencies
L3 term frequency by length
"""

_LISTS = {"released": RELEASED, "lecture": LECTURED}
_BY_NAME = {feature.name: feature for feature in (*RELEASED, *LECTURED)}


def find_features(features: str | Feature | Iterable[str | Feature]) -> tuple[Feature, ...]:
    """Return features by name, see `letor_features`; raise InputError for unknown, repeated or missing names."""
    words = "the name of a list, of a feature or of a retrieval function, a Feature, or a list of names and Features"
    listed = [features] if isinstance(features, str | Feature) else as_list("features", features, words)
    chosen_features = [feature for name in listed for feature in _of(name, words)]
    twice = repeated([feature.name for feature in chosen_features])
    if twice is not None:
        raise InputError(f"feature {twice!r} is named twice: leave one out")
    if not chosen_features:
        raise InputError("features is empty: name at least one, or 'released' for all of LETOR's")
    return tuple(chosen_features)


def _of(item: str | Feature, words: str) -> tuple[Feature, ...]:
    require_kind("features", item, str | Feature, words)
    if isinstance(item, Feature):
        return (item,)
    name = item.strip()
    if name.lower() in _LISTS:
        return _LISTS[name.lower()]
    match = {key.lower(): feature for key, feature in _BY_NAME.items()}.get(name.lower().replace("-", "_"))
    if match is not None:
        return (match,)
    if not retrieval_functions.knows(name):
        raise UnknownNameError("feature", name, [*_LISTS, *_BY_NAME, *retrieval_functions.names()])
    function = retrieval_functions.create(name)
    spelled = retrieval_functions.spell(function) or name
    return (_retrieval("".join(spelled.split()), spelled),)
