"""Errors keep what they say on their way from one process to another."""

import pickle

import pytest

from structsvm.exceptions import DataFormatError, InputError, UnknownNameError


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
