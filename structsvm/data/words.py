"""Words: ids and names that stand between the blanks of a text file."""

import re
from collections.abc import Iterable

from structsvm.data.trec_faults import NO_WORD
from structsvm.exceptions import InputError
from structsvm.settings import require_kind

_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")
"""What Python makes of bytes of an argument that are not text. Others stand for bytes that are not UTF-8, and are
written as these."""


def require_words(what: str, words: Iterable[str], file: str) -> None:
    """Require words that can stand in a file: text that is not empty, without blanks, tabs, line ends and NUL.

    Parameters
    ----------
    what : what messages call a word.
    words : the words.
    file : what messages call the file.

    Raises
    ------
    InputError : it names the first that is none.
    """
    for word in words:
        require_kind(what, word, str, "text")
        if not word or NO_WORD.search(word):
            raise InputError(
                f"{what} {word!r} must have no blank, tab, line end or NUL in it, and not be empty, to stand in {file}"
            )
        if _SURROGATE.search(word):
            raise InputError(f"{what} {word!r} must be text in UTF-8 to stand in {file}")
