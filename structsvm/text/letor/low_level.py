r"""LETOR's low-level features: sums over the terms of a query of what counts say.

Terms that no document has in the field are left out of all sums, and a sum over nothing is 0.

In the lecture all sums are over the terms that query and document share. The released data have sums over
all terms of the query in L5, L6 and L7, which are thus the same for all documents of a query, and in L8
the 1 inside the logarithm of the product. Both are here: the released ones under LETOR's names.

L6 is the logarithm of idf, which is 0 for a term that all documents have. Such a term is taken as one that
half a document lacks: its idf is :math:`\log(|C| / (|C| - 1/2))`. It is then below that of any other term,
and finite.
"""

from collections.abc import Callable

import numpy as np

from structsvm.text.letor.evidence import Evidence
from structsvm.text.letor.feature import Feature
from structsvm.types import Matrix, Vector

RELEASE = "released data of LETOR"
LECTURE = "Carterette's lecture on learning to rank"
_BOTH = "LETOR, as in the lecture"


def _idf(evidence: Evidence) -> Vector:
    return np.log(evidence.n_documents / evidence.document_frequency)


def _log_idf(evidence: Evidence) -> Vector:
    n = evidence.n_documents
    least: float = np.log(n / (n - 0.5))
    return np.log(np.maximum(_idf(evidence), least))


def _inverse_collection_frequency(evidence: Evidence) -> Vector:
    return evidence.n_documents / evidence.collection_frequency


def _sum(each: Matrix) -> Vector:
    total: Vector = each.sum(axis=0)
    return total


_IDF = ("inverse document frequency", r"\log\frac{|C|}{df(q_i)}", _idf)
_LOG_IDF = ("logarithms of inverse document frequency", r"\log\log\frac{|C|}{df(q_i)}", _log_idf)
_ICF = (
    "logarithms of inverse collection frequency",
    r"\log\left(\frac{|C|}{c(q_i, C)} + 1\right)",
    lambda evidence: np.log1p(_inverse_collection_frequency(evidence)),
)


def _of_query(name: str, words: str, term: str, each: Callable[[Evidence], Vector]) -> Feature:
    """Return the feature that sums over all terms of a query what only they tell, not the document."""
    return Feature(
        name,
        f"{words} of the query",
        rf"\sum_{{q_i \in q}} {term}",
        RELEASE,
        lambda evidence: np.full(len(evidence.documents), each(evidence).sum()),
    )


def _of_shared(name: str, words: str, term: str, each: Callable[[Evidence], Vector]) -> Feature:
    """Return the feature that sums it over the terms that query and document share."""
    return Feature(
        name,
        f"{words} of the terms in the document",
        rf"\sum_{{q_i \in q \cap d}} {term}",
        LECTURE,
        lambda evidence: each(evidence) @ (evidence.counts > 0),
    )


def _log_rate(evidence: Evidence) -> Matrix:
    """Return log(c / |d|) where the document has the term, else 0."""
    rates = evidence.rates
    return np.log(rates, out=np.zeros_like(rates), where=rates > 0)


L1 = Feature("L1", "term frequency", r"\sum_{q_i \in q} c(q_i, d)", _BOTH, lambda e: _sum(e.counts))
L2 = Feature(
    "L2",
    "logarithms of term frequencies",
    r"\sum_{q_i \in q} \log(c(q_i, d) + 1)",
    _BOTH,
    lambda e: _sum(np.log1p(e.counts)),
)
L3 = Feature(
    "L3",
    "term frequency by length",
    r"\sum_{q_i \in q} \frac{c(q_i, d)}{|d|}",
    _BOTH,
    lambda e: _sum(e.rates),
)
L4 = Feature(
    "L4",
    "logarithms of term frequencies by length",
    r"\sum_{q_i \in q} \log\left(\frac{c(q_i, d)}{|d|} + 1\right)",
    _BOTH,
    lambda e: _sum(np.log1p(e.rates)),
)
L5 = _of_query("L5", *_IDF)
L6 = _of_query("L6", *_LOG_IDF)
L7 = _of_query("L7", *_ICF)
L8 = Feature(
    "L8",
    "logarithms of term frequencies by length, times inverse document frequency",
    r"\sum_{q_i \in q} \log\left(\frac{c(q_i, d)}{|d|} \log\frac{|C|}{df(q_i)} + 1\right)",
    RELEASE,
    lambda e: _sum(np.log1p(e.rates * _idf(e)[:, None])),
)
L9 = Feature(
    "L9",
    "tf-idf",
    r"\sum_{q_i \in q} c(q_i, d) \log\frac{|C|}{df(q_i)}",
    _BOTH,
    lambda e: _sum(e.counts * _idf(e)[:, None]),
)
L10 = Feature(
    "L10",
    "logarithms of term frequencies by length, times inverse collection frequency",
    r"\sum_{q_i \in q} \log\left(\frac{c(q_i, d)}{|d|} \cdot \frac{|C|}{c(q_i, C)} + 1\right)",
    _BOTH,
    lambda e: _sum(np.log1p(e.rates * _inverse_collection_frequency(e)[:, None])),
)

LECTURE_L5 = _of_shared("L5_lecture", *_IDF)
LECTURE_L6 = _of_shared("L6_lecture", *_LOG_IDF)
LECTURE_L7 = _of_shared("L7_lecture", *_ICF)
LECTURE_L8 = Feature(
    "L8_lecture",
    "logarithm of term frequency by length, times logarithm of inverse document frequency",
    r"\sum_{q_i \in q \cap d} \log\frac{c(q_i, d)}{|d|} \log\left(\frac{|C|}{df(q_i)} + 1\right)",
    LECTURE,
    lambda e: _sum(_log_rate(e) * np.log1p(e.n_documents / e.document_frequency)[:, None]),
)
