"""Errors keep what they say on their way from one process to another."""

import pickle
from pathlib import Path

import pytest

from structsvm.exceptions import DataFormatError, InputError, UnknownNameError, printable


@pytest.mark.parametrize(
    "error",
    [
        InputError("no"),
        DataFormatError("a.txt", 3, "it is no number"),
        DataFormatError("a.txt", None, "it is empty"),
        UnknownNameError("loss", "mpa", ["map", "ndcg"]),
        UnknownNameError("loss", "auc", iter(["map"]), "It is called roc_area here."),
    ],
)
def test_errors_can_be_sent(error):
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert vars(again) == vars(error)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain Äé 検索\u3000x\xa0y", "plain Äé 検索\u3000x\xa0y"),
        ("\x1b[31m", r"\x1b[31m"),
        ("a\tb\r\nc\x00\x7f\x9b", r"a\tb\r\nc\x00\x7f\x9b"),
        ("\u202eabc\u2066\u200f", r"\u202eabc\u2066\u200f"),
        ("\u2028\u2029\u200b\U000e0041", r"\u2028\u2029\u200b\U000e0041"),
        ("\udce9", r"\udce9"),
    ],
)
def test_what_a_terminal_acts_on_is_shown_as_an_escape(text, shown):
    assert printable(text) == shown
    assert printable(shown) == shown
    assert str(InputError(f"1: {text}")) == "1: " + "\n".join(map(printable, text.split("\n")))
    assert str(DataFormatError(Path(text or "."), 3, "what")) == f"{shown}, line 3: what"


def test_a_word_that_is_no_path_is_cut_off():
    error = InputError(f"the name {'x' * 100_000} is not known")
    assert str(error) == f"the name {'x' * 60}... (100,000 characters) is not known"
