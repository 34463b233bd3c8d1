"""Arguments of other libraries, such as LightGBM's ``group`` and ``eval_set``: errors name the equivalent here."""

from collections.abc import Callable, Collection
from functools import wraps
from inspect import Parameter, signature
from typing import Any, TypeVar

from structsvm.exceptions import InputTypeError

T = TypeVar("T")

_SIZES = ("group", "group_sizes")
"""Names of the sizes of queries in LightGBM and XGBoost, and common variants."""

_IDS = ("groups", "group_id", "query_id", "query_ids", "qids")
"""Names of query ids in scikit-learn's splitters and CatBoost, and common variants."""

_HELD_OUT = ("eval_set", "eval_group", "eval_qid", "eval_metric", "early_stopping_rounds")
"""Arguments for held-out data and early stopping in LightGBM, XGBoost and CatBoost."""


_START = ("init_score", "base_margin", "baseline")
"""Arguments for scores to begin with in LightGBM, XGBoost and CatBoost."""


def explains_foreign_arguments(method: Callable[..., T]) -> Callable[..., T]:
    """Make a method name its own equivalent if it receives an argument of another library; it keeps its signature."""
    own = signature(method).parameters
    takes_any = any(each.kind is Parameter.VAR_KEYWORD for each in own.values())

    @wraps(method)
    def named(self: Any, *args: Any, **given: Any) -> T:
        unknown = [word for word in given if word not in own]
        if unknown:
            called = f"{type(self).__name__}.{method.__name__}"
            for word in unknown:
                if word in (*_SIZES, *_IDS, *_HELD_OUT, *_START):
                    raise InputTypeError(f"{called} has no {word}: {_way_out(word, own)}")
            if not takes_any:
                raise TypeError(f"{called}() got an unexpected keyword argument {unknown[0]!r}")
        return method(self, *args, **given)

    return named


def _way_out(word: str, own: Collection[str]) -> str:
    if word in _HELD_OUT:
        if "validation" in own:
            return "held-out queries are validation=(X, y, qid) here, and the parameter measure judges them"
        return "fit uses no held-out data: fit a path over C, and choose by score(X, y, qid) of other queries"
    if word in _START:
        return "scores of another model cannot be a start here; pass them as one more column of X, which gets a weight"
    if "qid" not in own:
        return "the score of a row does not depend on its query"
    if word in _IDS:
        return f"the query id of each row is qid here: pass qid={word}"
    return (
        "it takes qid, the query id of each row, and not the sizes of queries, as LightGBM does: "
        f"qid=np.repeat(np.arange(len({word})), {word})"
    )
