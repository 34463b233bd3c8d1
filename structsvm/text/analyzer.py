"""Split texts into index terms: tokens, stop words, stems."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from os import PathLike
from threading import Lock
from typing import Any

from attrs import Attribute, field, frozen

from structsvm.data.blocks import read_blocks
from structsvm.exceptions import DataFormatError, UnknownNameError
from structsvm.foundation.extras import needed
from structsvm.foundation.settings import as_list, as_path, place, require_choice, require_kind

_ZERO_WIDTH_SPACE = "\u200b"
_NOT_SEEN = re.compile("[\u034f\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Invisible marks: the grapheme joiner, and variation selectors, which choose the look of their base."""


def tokens(text: str) -> list[str]:
    """Return the tokens of a text in order.

    A token is a run of letters, digits and their marks, in any script. All other characters separate tokens: blanks,
    hyphens, apostrophes, full stops, underscores. Thus "Navier-Stokes" and "it's" are two tokens each, "3.5e-7" is
    "3", "5e" and "7", "U.S." is "u" and "s", and a run of ideographs is one token. Case and width are folded by
    Unicode's NFKC and full case folding: "Straße" is "strasse", "ﬁn" is "fin", "m²" is "m2". Accents are kept.
    Invisible signs, such as the soft hyphen, and marks without a base, such as emoji variation selectors, are removed.
    A zero-width space separates tokens.

    Parameters
    ----------
    text : the text.

    Examples
    --------
    >>> tokens("It's the boundary-layer of NACA's 0012 (fig. 3.1)")
    ['it', 's', 'the', 'boundary', 'layer', 'of', 'naca', 's', '0012', 'fig', '3', '1']
    """
    require_kind("text", text, str, "a text")
    if text.isascii():
        return text.translate(_ASCII).split()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    pieces = unicodedata.normalize("NFC", folded.translate(_SIGNS)).split()
    return [token for token in pieces if token[0].isalnum() or any(map(str.isalnum, token))]


class _Signs(dict[int, str | None]):
    """Translation of characters by code point: to themselves, a blank or an empty text."""

    def __missing__(self, number: int) -> str | None:
        sign = chr(number)
        category = unicodedata.category(sign)
        replacement: str | None = " "
        if sign.isalnum() or category.startswith("M"):
            replacement = sign
        if (category == "Cf" and sign != _ZERO_WIDTH_SPACE) or _NOT_SEEN.fullmatch(sign):
            replacement = None
        self[number] = replacement
        return replacement


_SIGNS = _Signs()
_ASCII = {number: chr(number).lower() if chr(number).isalnum() else " " for number in range(128)}


_LUCENE = """
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
will with
"""
_SNOWBALL = """
i me my myself we our ours ourselves you your yours yourself yourselves he him his himself she her hers herself it its
itself they them their theirs themselves what which who whom this that these those am is are was were be been being have
has had having do does did doing would should could ought i'm you're he's she's it's we're they're i've you've we've
they've i'd you'd he'd she'd we'd they'd i'll you'll he'll she'll we'll they'll isn't aren't wasn't weren't hasn't
haven't hadn't doesn't don't didn't won't wouldn't shan't shouldn't can't cannot couldn't mustn't let's that's who's
what's here's there's when's where's why's how's a an the and but if or because as until while of at by for with about
against between into through during before after above below to from up down in out on off over under again further then
once here there when where why how all any both each few more most other some such no nor not only own same so than too
very
"""


def _glasgow() -> frozenset[str]:
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    words: frozenset[str] = ENGLISH_STOP_WORDS
    return words


_BETWEEN = re.compile(r"[\s,;]+")
_APOSTROPHES = str.maketrans("", "", "'’")

STOP_LISTS: Mapping[str, Callable[[], frozenset[str]]] = {
    "glasgow": _glasgow,
    "lucene": lambda: frozenset(_LUCENE.split()),
    "snowball": lambda: frozenset(_SNOWBALL.split()),
}
"""Stop word lists by name: the 318 words of the Glasgow Information Retrieval Group, as in scikit-learn, the 33 of
Lucene's ``StopAnalyzer``, and the 174 of Snowball's English list."""


def stopped_tokens(words: Iterable[str]) -> frozenset[str]:
    """Return the tokens to remove for a list of stop words; see `Analyzer` for words of several tokens."""
    stopped: set[str] = set()
    for word in words:
        parts = tokens(word)
        if len(parts) == 1 or len(tokens(word.translate(_APOSTROPHES))) == 1:
            stopped.update(parts)
    return frozenset(stopped)


def named_stop_words(name: str) -> frozenset[str]:
    """Return the tokens of a list in `STOP_LISTS`."""
    if name not in STOP_LISTS:
        raise UnknownNameError("list of stop words", name, STOP_LISTS)
    return stopped_tokens(STOP_LISTS[name]())


def read_stop_words(path: str | PathLike[str]) -> tuple[str, ...]:
    """Return the tokens of a file of stop words, sorted; blanks, commas, semicolons and line ends separate words."""
    file = as_path("path", path)
    words: set[str] = set()
    for block in read_blocks(file):
        for number, line in enumerate(block.content.split(b"\n")):
            try:
                text = line.decode()
            except UnicodeDecodeError:
                raise block.fault(
                    number, "this is not UTF-8: convert the file, for example with 'iconv -f ISO-8859-1 -t UTF-8'"
                ) from None
            words.update(stopped_tokens(_BETWEEN.split(text.partition("#")[0].partition("|")[0])))
    if not words:
        raise DataFormatError(file, None, "the file has no stop words: give the name of another file, or none")
    return tuple(sorted(words))


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
    stemmer : "porter", the algorithm of Porter (Program 14, 1980) as published; "porter2", its revision, Snowball's
        English stemmer; None: terms are tokens. Both come from PyStemmer.
    stop_words : the words, or the name of a list: "snowball" (174 words), "glasgow" (318) or "lucene" (33); None: none.
        Stop words are removed before stemming. A word with an apostrophe is split like texts: "don't" removes "don" and
        "t". Other words of several tokens, such as "come-on", are ignored.

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
