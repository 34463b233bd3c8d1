"""What other libraries call the query of a row, told apart from any other unknown word."""

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar

from structsvm.exceptions import InputTypeError

T = TypeVar("T")

_SIZES = ("group", "group_sizes")
"""LightGBM's and XGBoost's, and what people call it."""

_IDS = ("groups", "group_id", "query_id", "query_ids", "qids")
"""Those of scikit-learn's splitters, CatBoost and people."""


def knows_foreign_words(method: Callable[..., T]) -> Callable[..., T]:
    """Let a method that takes ``qid`` say so to who gives it group sizes, or ids by another word.

    Its signature stays as it is, and a word that nobody uses is Python's TypeError as before.
    """
    own = signature(method).parameters

    @wraps(method)
    def named(self: Any, *args: Any, **words: Any) -> T:
        for word in words:
            if word not in own and (word in _SIZES or word in _IDS):
                raise InputTypeError(f"{type(self).__name__}.{method.__name__} has no {word}: {_way_out(word)}")
        return method(self, *args, **words)

    return named


def _way_out(word: str) -> str:
    if word in _IDS:
        return f"the query id of each row is qid here, qid={word}"
    return (
        "it takes qid, the query id of each row, and no sizes of queries as LightGBM does: "
        f"qid=np.repeat(np.arange(len({word})), {word})"
    )
