"""Arguments of other libraries, such as LightGBM's ``group`` and ``eval_set``: a message says what to write here."""

from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from structsvm.exceptions import InputTypeError

T = TypeVar("T")

_SIZES = ("group", "group_sizes")
"""LightGBM's and XGBoost's, and what people call it."""

_IDS = ("groups", "group_id", "query_id", "query_ids", "qids")
"""Those of scikit-learn's splitters, CatBoost and people."""


_HELD_OUT = ("eval_set", "eval_group", "eval_qid", "eval_metric", "early_stopping_rounds")
"""LightGBM's, XGBoost's and CatBoost's."""


def knows_foreign_words(method: Callable[..., T]) -> Callable[..., T]:
    """Let a method say what it takes to who gives it group sizes, ids by another word, or data that are held out.

    Its signature stays as it is, and a word that nobody uses is Python's TypeError as before, with the name of the
    estimator's class and not of the one that the method comes from.
    """
    own = signature(method).parameters
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in own.values())

    @wraps(method)
    def named(self: Any, *args: Any, **words: Any) -> T:
        unknown = [word for word in words if word not in own]
        if unknown:
            called = f"{type(self).__name__}.{method.__name__}"
            for word in unknown:
                if word in (*_SIZES, *_IDS, *_HELD_OUT):
                    raise InputTypeError(f"{called} has no {word}: {_way_out(word, own)}")
            if not takes_any:
                raise TypeError(f"{called}() got an unexpected keyword argument {unknown[0]!r}")
        return method(self, *args, **words)

    return named


def _way_out(word: str, own: Collection[str]) -> str:
    if word in _HELD_OUT:
        if "validation" in own:
            return "the queries that choose are validation=(X, y, qid) here, and measure= is what they are judged by"
        return "nothing is held out while it runs; score(X, y, qid) of other queries, at each C of path, chooses"
    if "qid" not in own:
        return "a row has the same score whatever its query"
    if word in _IDS:
        return f"the query id of each row is qid here, qid={word}"
    return (
        "it takes qid, the query id of each row, and no sizes of queries as LightGBM does: "
        f"qid=np.repeat(np.arange(len({word})), {word})"
    )
