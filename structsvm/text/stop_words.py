"""Named lists of stop words, and files of stop words."""

import re
from collections.abc import Callable, Iterable, Mapping
from os import PathLike

from structsvm.data.blocks import read_blocks
from structsvm.exceptions import DataFormatError, UnknownNameError
from structsvm.foundation.settings import as_path
from structsvm.text.tokens import tokens

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
