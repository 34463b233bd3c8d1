"""The definition of tokens."""

import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from structsvm.text import tokens


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", ""),
        (" \t\n\v\f ", ""),
        ("Boundary layer", "boundary layer"),
        ("boundary-layer (laminar)", "boundary layer laminar"),
        ("it's", "it s"),
        ("it’s", "it s"),
        ("O'Neill", "o neill"),
        ("U.S.A.", "u s a"),
        ("3.14", "3 14"),
        ("1,000,000", "1 000 000"),
        ("3.5e-7", "3 5e 7"),
        ("b52 4x", "b52 4x"),
        ("snake_case", "snake case"),
        ("a/b&c=d", "a b c d"),
        ("user@example.org", "user example org"),
        ("<b>bold</b>", "b bold b"),
        ("line-\nbreak", "line break"),
        ("a\x00b\x1fc\x7fd", "a b c d"),
        ("Straße STRASSE", "strasse strasse"),
        ("ﬁn ﬂow", "fin flow"),
        ("ＮＡＣＡ　００１２", "naca 0012"),
        ("m² H₂O", "m2 h2o"),
        ("½", "1 2"),
        ("Ⅷ", "viii"),
        ("café", "café"),
        ("cafe\u0301", "café"),
        ("naïve Ångström", "naïve ångström"),
        ("\u212b", "å"),
        ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
        ("Ньютон", "ньютон"),
        ("İ", "i̇"),
        ("soft\u00adhyphen", "softhyphen"),
        ("می\u200cخواهم", "میخواهم"),
        ("zero\u200bwidth", "zero width"),
        ("\ufeffmark", "mark"),
        ("no\u00a0break", "no break"),
        ("हिन्दी", "हिन्दी"),
        ("流体力学", "流体力学"),
        ("流体，力学", "流体 力学"),
        ("٣٫١٤", "٣ ١٤"),
        ("x→y", "x y"),
        ("α-helix", "α helix"),
        ("😀smile", "smile"),
        ("love ❤\ufe0f it", "love it"),
        ("1\ufe0f\u20e3 a\u034f\u0301", "1\u20e3 á"),
        ("\u0301 \u20e3", ""),
        ("\udcff\ud800", ""),
    ],
)
def test_tokens(text, found):
    assert tokens(text) == found.split()


def test_ascii_is_what_the_general_way_makes_of_it():
    every = "".join(map(chr, range(128)))
    assert tokens(every) == tokens(f"{every} é")[:-1]


@given(st.text())
@example("a\u00ad\u0301")
@example("\u0345\u03b1\u0301")
def test_tokens_are_their_own_tokens(text):
    result = tokens(text)
    assert tokens(" ".join(result)) == result
    assert all(unicodedata.is_normalized("NFC", token) and not any(map(str.isspace, token)) for token in result)


def test_every_character_is_a_part_of_a_token_or_none():
    for number in range(0, sys.maxunicode, 7):
        result = tokens(chr(number))
        assert "".join(result).strip() == "".join(result)
