"""LETOR's features of queries and candidate documents, computed from an index."""

from structsvm.text.letor.catalogue import RELEASED
from structsvm.text.letor.extraction import letor_features
from structsvm.text.letor.feature import Evidence, Feature

__all__ = ["RELEASED", "Evidence", "Feature", "letor_features"]
