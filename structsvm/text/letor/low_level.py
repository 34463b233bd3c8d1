r"""LETOR's low-level features: sums over the terms of a query of what counts say.

Terms that no document has in the field are left out of all sums, and a sum over nothing is 0.

In the lecture all sums are over the terms that query and document share. The released data have sums over
all terms of the query in L5, L6 and L7, which are thus the same for all documents of a query, and in L8
the 1 inside the logarithm of the product. Both are here: the released ones under LETOR's names.

L6 is the logarithm of idf, which is 0 for a term that all documents have. Such a term is taken as one that
half a document lacks: its idf is :math:`\log(|C| / (|C| - 1/2))`. It is then below that of any other term,
and finite.
"""

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


def _sum_of_query(evidence: Evidence, each: Vector) -> Vector:
    return np.full(len(evidence.documents), each.sum())


def _sum_of_shared(evidence: Evidence, each: Vector) -> Vector:
    total: Vector = each @ (evidence.counts > 0)
    return total


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
L5 = Feature(
    "L5",
    "inverse document frequency of the query",
    r"\sum_{q_i \in q} \log\frac{|C|}{df(q_i)}",
    RELEASE,
    lambda e: _sum_of_query(e, _idf(e)),
)
L6 = Feature(
    "L6",
    "logarithms of inverse document frequencies of the query",
    r"\sum_{q_i \in q} \log\log\frac{|C|}{df(q_i)}",
    RELEASE,
    lambda e: _sum_of_query(e, _log_idf(e)),
)
L7 = Feature(
    "L7",
    "inverse collection frequency of the query",
    r"\sum_{q_i \in q} \log\left(\frac{|C|}{c(q_i, C)} + 1\right)",
    RELEASE,
    lambda e: _sum_of_query(e, np.log1p(_inverse_collection_frequency(e))),
)
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

LECTURE_L5 = Feature(
    "L5_lecture",
    "inverse document frequency of the terms in the document",
    r"\sum_{q_i \in q \cap d} \log\frac{|C|}{df(q_i)}",
    LECTURE,
    lambda e: _sum_of_shared(e, _idf(e)),
)
LECTURE_L6 = Feature(
    "L6_lecture",
    "logarithms of inverse document frequencies of the terms in the document",
    r"\sum_{q_i \in q \cap d} \log\log\frac{|C|}{df(q_i)}",
    LECTURE,
    lambda e: _sum_of_shared(e, _log_idf(e)),
)
LECTURE_L7 = Feature(
    "L7_lecture",
    "inverse collection frequency of the terms in the document",
    r"\sum_{q_i \in q \cap d} \log\left(\frac{|C|}{c(q_i, C)} + 1\right)",
    LECTURE,
    lambda e: _sum_of_shared(e, np.log1p(_inverse_collection_frequency(e))),
)
LECTURE_L8 = Feature(
    "L8_lecture",
    "logarithm of term frequency by length, times logarithm of inverse document frequency",
    r"\sum_{q_i \in q \cap d} \log\frac{c(q_i, d)}{|d|} \log\left(\frac{|C|}{df(q_i)} + 1\right)",
    LECTURE,
    lambda e: _sum(_log_rate(e) * np.log1p(e.n_documents / e.document_frequency)[:, None]),
)
