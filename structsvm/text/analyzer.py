"""Split texts into index terms: tokens, stop words, stems."""

from collections.abc import Callable
from functools import lru_cache
from threading import Lock
from typing import Any

from attrs import Attribute, field, frozen

from structsvm.foundation.extras import needed
from structsvm.foundation.settings import as_list, place, require_choice, require_kind
from structsvm.text.stop_words import named_stop_words, stopped_tokens
from structsvm.text.tokens import tokens

STEMMERS = {"porter": "porter", "porter2": "english"}
"""The stemmers, and their names in Snowball."""

_STOP_WORDS = "the name of a list, words, or None"
_MOST_REMEMBERED = 2**20
_ANALYZERS_AT_ONCE = 16


def _as_stop_words(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    words = as_list("Analyzer(stop_words=...)", value, _STOP_WORDS)
    for word in words:
        require_kind("Analyzer(stop_words=...)", word, str, _STOP_WORDS)
    return tuple(sorted(stopped_tokens(words))) or None


@frozen(cache_hash=True)
class Analyzer:
    """Analyze texts into terms: `tokens` without stop words, reduced to stems.

    Parameters
    ----------
    stemmer : "porter", the algorithm of Porter (Program 14, 1980) as published; "porter2", its revision, which is
        Snowball's for English; None: a term is a token. Both come from PyStemmer.
    stop_words : name of a list, "snowball" (174 words), "glasgow" (318) or "lucene" (33); words; or None. Stop words
        are removed before stemming. A word with an apostrophe is split like texts: "don't" removes "don" and "t". Other
        words of several tokens, such as "come-on", are ignored.

    Examples
    --------
    >>> Analyzer().terms("The boundary-layers of the wings")
    ['boundari', 'layer', 'wing']
    >>> Analyzer(stemmer=None, stop_words=None).terms("The boundary-layers of the wings")
    ['the', 'boundary', 'layers', 'of', 'the', 'wings']
    """

    stemmer: str | None = field(default="porter")
    stop_words: str | tuple[str, ...] | None = field(default="snowball", converter=_as_stop_words)

    @stemmer.validator
    def _known_stemmer(self, attribute: "Attribute[str | None]", value: Any) -> None:
        require_choice(place(self, attribute.name), value, [None, *STEMMERS])

    @stop_words.validator
    def _known_list(self, _attribute: "Attribute[Any]", value: Any) -> None:
        if isinstance(value, str):
            named_stop_words(value)

    @property
    def stopped(self) -> frozenset[str]:
        """The stop words."""
        if isinstance(self.stop_words, str):
            return named_stop_words(self.stop_words)
        return frozenset(self.stop_words or ())

    def terms(self, text: str) -> list[str]:
        """Return the terms of a text in order, with repetitions."""
        return [term for term in map(term_of_token(self), tokens(text)) if term]


def term_of_token(analyzer: Analyzer) -> Callable[[str], str]:
    """Return a caching function that maps a token to its term, or to "" if it is a stop word."""
    return _terms(analyzer).__getitem__


class _Terms(dict[str, str]):
    """Cache of terms by token; "" for stop words."""

    def __init__(self, analyzer: Analyzer) -> None:
        super().__init__()
        self._stopped = analyzer.stopped
        self._stem = None if analyzer.stemmer is None else _stemmer(STEMMERS[analyzer.stemmer])

    def __missing__(self, token: str) -> str:
        term = "" if token in self._stopped else token
        if term and self._stem is not None:
            # The stem of "s" is empty, so keep the token.
            term = self._stem(token) or token
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        self[token] = term
        return term


@lru_cache(maxsize=_ANALYZERS_AT_ONCE)
def _terms(analyzer: Analyzer) -> _Terms:
    return _Terms(analyzer)


def _stemmer(name: str) -> Callable[[str], str]:
    with needed("stems need PyStemmer", "tools", "Or choose stemmer=None."):
        from Stemmer import Stemmer

    stem = Stemmer(name, 0).stemWord
    # A stemmer has a buffer that threads must not share.
    lock = Lock()

    def stemmed(token: str) -> str:
        with lock:
            return str(stem(token))

    return stemmed
