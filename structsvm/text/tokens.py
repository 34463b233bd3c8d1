"""Tokens: what a text is cut into."""

import unicodedata

from structsvm.settings import require_kind

_ZERO_WIDTH_SPACE = "\u200b"


def tokens(text: str) -> list[str]:
    """Return the tokens of a text, in their order.

    A token is a run of letters, digits and the marks on them, of any script; all else separates tokens: blanks,
    hyphens, apostrophes, full stops, underscores. So "Navier-Stokes" and "it's" are two tokens each, "3.5e-7" is
    "3", "5e" and "7", "U.S." is "u" and "s", and a run of ideographs is one. Case and width are folded, as by
    Unicode's NFKC and full case folding: "Straße" is "strasse", "ﬁn" is "fin", "m²" is "m2". Accents stay. Signs
    that are not seen, such as the soft hyphen, are left out; a zero-width space separates.

    Raises
    ------
    InputError : it is no text.

    Examples
    --------
    >>> tokens("It's the boundary-layer of NACA's 0012 (fig. 3.1)")
    ['it', 's', 'the', 'boundary', 'layer', 'of', 'naca', 's', '0012', 'fig', '3', '1']
    """
    require_kind("text", text, str, "a text")
    if text.isascii():
        return text.translate(_ASCII).split()
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return unicodedata.normalize("NFC", folded.translate(_SIGNS)).split()


class _Signs(dict[int, str | None]):
    """What becomes of a character, by its number: itself, a blank or nothing."""

    def __missing__(self, number: int) -> str | None:
        sign = chr(number)
        category = unicodedata.category(sign)
        kept: str | None = " "
        if sign.isalnum() or category.startswith("M"):
            kept = sign
        elif category == "Cf" and sign != _ZERO_WIDTH_SPACE:
            kept = None
        self[number] = kept
        return kept


_SIGNS = _Signs()
_ASCII = {number: chr(number).lower() if chr(number).isalnum() else " " for number in range(128)}
