"""From text to scores: tokens, an index of sparse counts, and retrieval functions on it."""

from structsvm.text.analyzer import STEMMERS, Analyzer
from structsvm.text.index import Index
from structsvm.text.postings import Postings
from structsvm.text.stop_words import STOP_LISTS, read_stop_words
from structsvm.text.strings import Strings
from structsvm.text.tokens import tokens

__all__ = ["STEMMERS", "STOP_LISTS", "Analyzer", "Index", "Postings", "Strings", "read_stop_words", "tokens"]
