"""Split texts into tokens."""

import re
import unicodedata

from structsvm.foundation.settings import require_kind

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
