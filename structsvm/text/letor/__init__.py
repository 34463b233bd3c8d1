"""LETOR's features of queries and candidate documents, computed from an index, as data to learn from."""

from structsvm.text.letor.catalogue import LECTURED, RELEASED, find_features
from structsvm.text.letor.evidence import Evidence
from structsvm.text.letor.extraction import Candidates, letor_features
from structsvm.text.letor.feature import Feature
from structsvm.text.letor.high_level import retrieval_feature

__all__ = [
    "LECTURED",
    "RELEASED",
    "Candidates",
    "Evidence",
    "Feature",
    "find_features",
    "letor_features",
    "retrieval_feature",
]
